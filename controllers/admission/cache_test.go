package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// TestCacheKeepsVerdicts: what the cache drops changes no verdict, whatever else an audit
// has.
func TestCacheKeepsVerdicts(t *testing.T) {
	fill := randfill.NewWithSeed(7).NilChance(0.1).NumElements(1, 3).Funcs(
		func(q *resource.Quantity, _ randfill.Continue) { *q = resource.MustParse("1") },
		func(*runtime.RawExtension, randfill.Continue) {},
	)
	known := 0
	for range 300 {
		audit := &v1alpha1.MCPServerAudit{}
		fill.Fill(&audit.Spec)
		fill.Fill(&audit.Status)
		audit.Namespace, audit.Name = "team-a", "notes"
		verdictOf(audit)
		want := gate.ReadVerdict(audit.DeepCopy())
		kept, err := keepVerdict(audit.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, gate.ReadVerdict(kept.(*v1alpha1.MCPServerAudit))); diff != "" {
			t.Fatalf("verdict (-audit +cached):\n%s", diff)
		}
		if want != nil && !want.Passed.IsZero() {
			known++
		}
	}
	if known == 0 {
		t.Error("no audit has a verdict with a history")
	}
}

// verdictOf makes a filled audit one that passed before.
func verdictOf(audit *v1alpha1.MCPServerAudit) {
	status, now := &audit.Status, metav1.Unix(1_700_000_000, 0)
	status.LastAuditTime = &now
	status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionAudited, Status: metav1.ConditionFalse, Reason: "Timeout", Message: "it took too long"},
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Timeout"},
	}
	if len(status.History) > 0 {
		status.History[0] = v1alpha1.HistoryEntry{Time: now, Verdict: v1alpha1.VerdictPass, ImageDigest: status.ImageDigest}
	}
	if digest, err := trigger.SpecDigest(audit.Spec); err == nil && status.Trigger != nil {
		status.Trigger.SpecDigest = digest
	}
}

// TestCacheKeepsNoAuditWithoutVerdict: tenants can create many large audits that are never run.
func TestCacheKeepsNoAuditWithoutVerdict(t *testing.T) {
	large := map[string]string{"note": strings.Repeat("x", 1<<16)}
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes", Labels: large, Annotations: large, Finalizers: []string{"a.b/c"}}}
	audit.Spec.Server.Image = "registry.example/notes:1"
	audit.Status.Tools = []v1alpha1.ToolDigest{{Name: "search"}}
	kept, err := keepVerdict(audit)
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes"}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("cached audit (-want +got):\n%s", diff)
	}
}
