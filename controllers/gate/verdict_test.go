package gate

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// A registry that is away leaves an audit without a digest of its own: what it says is
// about the image as it was, and so is the last pass.
func TestAnAuditThatCouldNotHaveItsImage(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	digest := v1alpha1.Digest("sha256:" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	entries := func(trigger v1alpha1.TriggerReason) []v1alpha1.HistoryEntry {
		return []v1alpha1.HistoryEntry{
			{Verdict: v1alpha1.VerdictInconclusive, Trigger: trigger},
			{Time: at, Verdict: v1alpha1.VerdictPass, Trigger: v1alpha1.TriggerNeverAudited, ImageDigest: digest},
		}
	}
	audit := &v1alpha1.MCPServerAudit{Status: v1alpha1.MCPServerAuditStatus{
		LastAuditTime: &at, History: entries(v1alpha1.TriggerScheduleDue),
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionAudited, Status: metav1.ConditionFalse, Reason: "ImagePullFailed"}},
		Audited:    &v1alpha1.AuditedServer{Image: "r/notes:1", Digests: []v1alpha1.Digest{digest}},
	}}
	if v := ReadVerdict(audit); v == nil || !v.Passed.Equal(at.Time) || v.Complete {
		t.Errorf("the verdict is %+v", v)
	}
	audit.Status.History = entries(v1alpha1.TriggerSpecChanged)
	if v := ReadVerdict(audit); v == nil || !v.Passed.IsZero() {
		t.Errorf("another spec passed: %+v", v)
	}
}
