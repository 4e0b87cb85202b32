package gate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func TestNothingKnown(t *testing.T) {
	policy := gate.ReadPolicy(&v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "default"}})
	subject := gate.Subject{Kind: "Deployment", Namespace: "team", Name: "notes", Target: v1alpha1.TargetWorkloads,
		Containers: []gate.Container{{Name: "server", Role: gate.RoleContainer, Image: "registry.example/notes:1"}}}
	d := gate.Decide(subject, gate.Facts{Policies: []*gate.Policy{policy}})
	if d.Allowed {
		t.Error("allowed")
	}
	want := `Deployment notes: container server runs registry.example/notes:1, which no audit that counts has a verdict on: ` +
		`have it audited, as by "kubectl mcpaudit run --image registry.example/notes:1 -n team" (policy default).`
	if d.Message != want {
		t.Errorf("message %q, want %q", d.Message, want)
	}
}
