package audit

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// runtimes returns the node of a cluster whose default runtime and whose crun have user
// namespaces, and whose runsc has none, with a RuntimeClass for each handler.
func runtimes() *fake.ClientBuilder {
	has := &corev1.NodeRuntimeHandlerFeatures{UserNamespaces: new(true)}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	node.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Features: has}, {Name: "crun", Features: has}, {Name: "runsc"}}
	class := func(name, handler string) *nodev1.RuntimeClass {
		return &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: handler}
	}
	return fake.NewClientBuilder().WithObjects(node, class("gvisor", "runsc"), class("fast", "crun"))
}

// TestS17UserNamespaceStays: a RuntimeClass that an audit names costs it no user namespace,
// and a handler without them costs nobody else's.
func TestS17UserNamespaceStays(t *testing.T) {
	for name, test := range map[string]struct {
		mode            options.UserNamespaces
		operator, audit string
		want, refused   bool
	}{
		"none is named":                         {options.UserNamespacesAuto, "", "", true, false},
		"whose handler has them":                {options.UserNamespacesAuto, "", "fast", true, false},
		"whose handler has none":                {options.UserNamespacesAuto, "", "gvisor", false, true},
		"that there is not":                     {options.UserNamespacesAuto, "", "other", false, true},
		"weaker than the operator's":            {options.UserNamespacesAuto, "fast", "gvisor", false, true},
		"stronger than the operator's":          {options.UserNamespacesAuto, "gvisor", "fast", true, false},
		"the operator's, of a sandboxed kernel": {options.UserNamespacesAuto, "gvisor", "", false, false},
		"the same, named by the audit":          {options.UserNamespacesAuto, "gvisor", "gvisor", false, false},
		"always":                                {options.UserNamespacesAlways, "", "gvisor", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Live: runtimes().Build(), Clock: clock.RealClock{}}
			r.Options.UserNamespaces, r.Options.RuntimeClass = test.mode, test.operator
			audit := &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Sandbox: v1alpha1.Sandbox{RuntimeClassName: test.audit}}}
			got, err := r.userNamespace(t.Context(), audit)
			if got != test.want || errors.Is(err, errWeaker) != test.refused || err != nil && !test.refused {
				t.Errorf("userNamespace = %t, %v", got, err)
			}
			if test.refused && !strings.HasPrefix(strings.TrimPrefix(err.Error(), errWeaker.Error()+": "), "spec.sandbox.runtimeClassName: ") {
				t.Errorf("the error does not name the field: %v", err)
			}
		})
	}
}

// TestS17RuntimeClassIsAFloor: with a class of the operator's an audit leaves it for no
// other one, unless the configuration lists that.
func TestS17RuntimeClassIsAFloor(t *testing.T) {
	o := options.Default()
	o.RuntimeClass = "gvisor"
	spec := v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a"}, Sandbox: v1alpha1.Sandbox{RuntimeClassName: "fast"}}
	if err := o.Allowed.Check(spec, o.RuntimeClass); err == nil || !strings.Contains(err.Error(), "allowed.runtimeClassNames") {
		t.Errorf("Check = %v", err)
	}
	for _, class := range []string{"", "gvisor"} {
		spec.Sandbox.RuntimeClassName = class
		if err := o.Allowed.Check(spec, o.RuntimeClass); err != nil {
			t.Errorf("Check of %q: %v", class, err)
		}
	}
}
