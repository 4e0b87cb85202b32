package offline

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// storable fails the test unless the API server takes all lists.
func storable(t *testing.T, objects Objects) {
	t.Helper()
	if len(objects.Problems) > 0 || len(objects.Bindings) == 0 {
		t.Errorf("%d bindings, problems: %v", len(objects.Bindings), objects.Problems)
	}
	for _, list := range objects.Lists {
		size := 0
		for key, text := range list.Data {
			size += len(key) + len(text)
		}
		if size > 1<<20 {
			t.Errorf("%s has %d bytes", list.Name, size)
		}
	}
}

// TestR6AuditsOfOneNamespaceLeaveRoom: audits of one image, each with a command of its own,
// must not make an entry that no ConfigMap takes.
func TestR6AuditsOfOneNamespaceLeaveRoom(t *testing.T) {
	p := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsAll)
	p.Spec.Gate.OnOtherCommand = v1alpha1.ActionDeny
	for name, word := range map[string]string{"long words": strings.Repeat(" ", 6<<10), "words that are told": strings.Repeat("x", 1<<10)} {
		verdicts := []*gate.Verdict{verdict("b", 0), verdict("c", 2)}
		for i := range 300 {
			verdicts = append(verdicts, verdict("a", int32(i%2), fmt.Sprint(i), word))
		}
		w := world(verdicts...)
		objects := Compile(nil, []*v1alpha1.ClusterMCPAuditPolicy{p}, w)
		storable(t, objects)
		denied, passed := compiled(t, policyDenied, p, w), compiled(t, policyPassed, p, w)
		expect(t, name+": another image that failed", says(denied, key("c")), "*|*|deny|")
		expect(t, name+": another image that passed", says(passed, key("b")), "||pass|")
		if note := objects.Notes[Policy{v1alpha1.PolicyReference{Kind: gate.KindClusterPolicy, Name: "default"}, ""}]; (note == "") != (name == "long words") {
			t.Errorf("%s: noted %q", name, note)
		}
	}
}

// TestR6ExceptionsOfOneNamespaceLeaveRoom: who may write exceptions in one namespace must
// not have the lists of a policy of the cluster stay as they are.
func TestR6ExceptionsOfOneNamespaceLeaveRoom(t *testing.T) {
	p := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsSame)
	exception := func(namespace, name string, values int) *v1alpha1.MCPAuditException {
		e := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn}
		for i := range values {
			e.Values = append(e.Values, fmt.Sprintf("v%060d", i))
		}
		return &v1alpha1.MCPAuditException{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(now)},
			Spec: v1alpha1.MCPAuditExceptionSpec{
				PolicyRef: v1alpha1.PolicyReference{Kind: gate.KindClusterPolicy, Name: "default"}, ExpiresAt: metav1.NewTime(now.Add(1)),
				ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}},
			},
		}
	}
	for values, n := range map[int]int{1000: 20, 100: 200, 1: 3000} {
		w := world(verdict("a", 2), verdict("b", 0))
		w.Exceptions = append(w.Exceptions, exception("team", "honest", 1))
		for i := range n {
			w.Exceptions = append(w.Exceptions, exception("hostile", fmt.Sprint(i), values))
		}
		objects := Compile(nil, []*v1alpha1.ClusterMCPAuditPolicy{p}, w)
		storable(t, objects)
		if len(objects.Notes) != 1 {
			t.Errorf("noted %v", objects.Notes)
		}
		header, of := objects.Lists[0].Data, 0
		for _, text := range header {
			if strings.HasPrefix(text, "hostile\n") {
				of++
			}
		}
		if of > maxOfNamespace {
			t.Errorf("%d exceptions of one namespace are listed", of)
		}
		if _, there := header["x"+hash("team/honest")]; !there {
			t.Errorf("with %d values, the exception of another namespace is left out", values)
		}
	}
}
