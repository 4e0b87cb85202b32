package audit

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

// TestAB3NameOfTheServerIsACell: the server chooses it, and "kubectl get mcpauditreports" prints it.
func TestAB3NameOfTheServerIsACell(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"Notes for teams, 名前 1.0":                "Notes for teams, 名前 1.0",
		"notes\u009b2J\u202ePass\u200b\x1b[2J\n": "notes 2J Pass  [2J ",
	} {
		r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), Metrics: metrics.New(prometheus.NewRegistry())}
		s := &session{
			audit:   &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes", UID: "1"}},
			summary: &report.Summary{}, report: &report.Report{Server: report.ServerRun{Name: said}},
		}
		s.run.Name = "notes-1"
		if err := r.store(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var stored v1alpha1.MCPAuditReport
		if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "notes-1"}, &stored); err != nil {
			t.Fatal(err)
		}
		if got := stored.Spec.Server.Name; got != want {
			t.Errorf("%q is stored as %q, want %q", said, got, want)
		}
	}
}
