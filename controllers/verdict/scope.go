package verdict

import (
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// conformant returns whether the server kept to the declared scope. Suppressed findings do not
// count.
func conformant(in Input, incomplete report.Incomplete) conditions.Condition {
	if !in.Scoped {
		return conditions.True(v1alpha1.ReasonNoScopeDeclared, "spec.declaredScope is absent: what the manifest declares was what counted.")
	}
	if in.Report != nil {
		outside := slices.DeleteFunc(report.Counting(in.Report.Findings), func(f report.Finding) bool { return !f.ExceedsScope })
		if len(outside) > 0 {
			message := excerpt.Sentence(excerpt.Capital(excerpt.Line(outside[0].Message, 240)))
			if more := len(outside) - 1; more > 0 {
				message += fmt.Sprintf(" And %d more.", more)
			}
			return conditions.False(v1alpha1.ReasonScopeExceeded, message)
		}
	}
	if incomplete.Reason != "" {
		return conditions.Unknown(v1alpha1.ReasonAuditIncomplete, "Nothing was seen outside of spec.declaredScope, and the audit could not observe everything: see Audited.")
	}
	return conditions.True(v1alpha1.ReasonWithinScope, "Nothing was seen that spec.declaredScope does not allow.")
}

// failReason is ScopeExceeded if nothing else failed the audit.
func failReason(in Input) string {
	if in.Report == nil {
		return v1alpha1.ReasonFindingsAboveThreshold
	}
	for _, f := range report.Counting(in.Report.Findings) {
		if !f.ExceedsScope && (f.Severity.Rank() < 0 || f.Severity.AtLeast(threshold(in.FailOn))) {
			return v1alpha1.ReasonFindingsAboveThreshold
		}
	}
	return v1alpha1.ReasonScopeExceeded
}
