package gate_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// exceptionOf makes an exception for all that runs index in namespace team.
func exceptionOf(change ...func(*v1alpha1.MCPAuditException)) *v1alpha1.MCPAuditException {
	e := &v1alpha1.MCPAuditException{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "for-now", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: gate.KindPolicy, Name: "default"}, Images: []v1alpha1.Digest{index},
			Reason: "It is needed.", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(now.Add(time.Hour)),
		},
	}
	for _, c := range change {
		c(e)
	}
	return e
}

func selectingObjects(labels map[string]string) func(*v1alpha1.MCPAuditException) {
	return func(e *v1alpha1.MCPAuditException) {
		e.Spec.ObjectSelector = &metav1.LabelSelector{MatchLabels: labels}
	}
}

func anyImage(e *v1alpha1.MCPAuditException) { e.Spec.Images = nil }

func TestException(t *testing.T) {
	app := map[string]string{"app": "notes"}
	running := gate.Container{Name: "server", Image: tag, Digests: []v1alpha1.Digest{index}}
	for _, test := range []struct {
		name      string
		exception *v1alpha1.MCPAuditException
		container gate.Container
		want      bool
	}{
		{"the image", exceptionOf(), runs(pinned), true},
		{"the image that runs", exceptionOf(), running, true},
		{"another image", exceptionOf(), runs("x@" + string(digest(9))), false},
		{"a tag could be any image", exceptionOf(), runs(tag), false},
		{"the object", exceptionOf(anyImage, selectingObjects(app)), runs(tag), true},
		{"the object, by the labels of its Pods", exceptionOf(anyImage, selectingObjects(map[string]string{"tier": "tools"})), runs(tag), true},
		{"another object", exceptionOf(anyImage, selectingObjects(map[string]string{"app": "other"})), runs(tag), false},
		{"image and object", exceptionOf(selectingObjects(app)), runs(pinned), true},
		{"image, and another object", exceptionOf(selectingObjects(map[string]string{"app": "other"})), runs(pinned), false},
		{"expired", exceptionOf(func(e *v1alpha1.MCPAuditException) { e.Spec.ExpiresAt = metav1.NewTime(now) }), runs(pinned), false},
		{"another namespace", exceptionOf(func(e *v1alpha1.MCPAuditException) { e.Namespace = "other" }), runs(pinned), false},
		{"another policy", exceptionOf(func(e *v1alpha1.MCPAuditException) { e.Spec.PolicyRef.Name = "other" }), runs(pinned), false},
		{"a policy of another kind", exceptionOf(func(e *v1alpha1.MCPAuditException) { e.Spec.PolicyRef.Kind = gate.KindClusterPolicy }), runs(pinned), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			read, err := gate.ReadException(test.exception)
			if err != nil {
				t.Fatal(err)
			}
			facts := factsOf(policyOf(), verdictOf("a", failed))
			facts.Exceptions = []*gate.Exception{read}
			d := gate.Decide(containers(test.container), facts)
			o := d.Opinions[0]
			if d.Allowed != test.want || (o.Exception == read) != test.want || (o.Reason == v1alpha1.GateExcepted) != test.want {
				t.Errorf("allowed %t, reason %s, exception %v", d.Allowed, o.Reason, o.Exception)
			}
			if test.want && !strings.Contains(o.Sentence, "admitted by the exception for-now until 2026-11-22T13:00:00Z, ticket SEC-1") {
				t.Errorf("sentence %q", o.Sentence)
			}
			facts.Policies = []*gate.Policy{policyOf(trusting(v1alpha1.Trust{AuditNamespaces: "Same", IgnoreExceptions: true}))}
			if d := gate.Decide(containers(test.container), facts); d.Allowed {
				t.Error("a policy that ignores exceptions does not")
			}
		})
	}
}

func TestExceptionIsOnlyUsedWhereOneIsNeeded(t *testing.T) {
	read, _ := gate.ReadException(exceptionOf())
	facts := factsOf(policyOf(), verdictOf("a"))
	facts.Exceptions = []*gate.Exception{read}
	if o := gate.Decide(containers(runs(pinned)), facts).Opinions[0]; o.Exception != nil || o.Reason != v1alpha1.GatePassed {
		t.Errorf("%s by %v", o.Reason, o.Exception)
	}
}

func TestReadException(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.MCPAuditException){
		"spec.expiresAt: ": func(e *v1alpha1.MCPAuditException) {
			e.Spec.ExpiresAt = metav1.NewTime(e.CreationTimestamp.Add(367 * 24 * time.Hour))
		},
		"spec.objectSelector: ": func(e *v1alpha1.MCPAuditException) {
			e.Spec.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
		},
		"spec: neither": anyImage,
	} {
		if read, err := gate.ReadException(exceptionOf(change)); err == nil || !strings.HasPrefix(err.Error(), want) || read != nil {
			t.Errorf("%v, %v; want %q", read, err, want)
		}
	}
}
