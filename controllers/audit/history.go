package audit

import (
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// remember puts the outcome at the head of the history, and counts the audits in a
// row that could not observe everything.
func (s *session) remember() {
	status := &s.audit.Status
	reason := s.outcome.Ready.Reason
	if s.outcome.Verdict == v1alpha1.VerdictInconclusive {
		reason = s.outcome.Audited.Reason
		status.ConsecutiveFailures++
	} else {
		status.ConsecutiveFailures = 0
	}
	history := []v1alpha1.HistoryEntry{{
		Time: *status.LastAuditTime, Verdict: s.outcome.Verdict, Reason: excerpt.Line(reason, maxWord),
		Trigger: s.run.Reason, Run: s.run.Name, Assurance: level(s.outcome.Assurance), ImageDigest: s.resolved, ManifestDigest: s.outcome.ManifestDigest,
	}}
	status.History = append(history, status.History[:min(len(status.History), v1alpha1.MaxHistory-1)]...)
}
