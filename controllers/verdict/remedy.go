package verdict

import (
	"fmt"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxCause bounds the cause in bytes of JSON, so the remedy is never cut off.
const maxCause = 560

// again is for causes that pass or are fixed outside the spec.
const again = " To have it audited again, set the annotation " + v1alpha1.RequestedAtAnnotation + " to a new value."

// remedy returns the fix for a reason. Spec changes trigger an audit by themselves.
// docs/troubleshooting.md has more.
func remedy(reason report.Reason) string {
	cause, _ := report.CauseOf(reason)
	if cause.Outside {
		return cause.Remedy + again
	}
	return cause.Remedy
}

// explain returns the cause and the fix.
func explain(incomplete report.Incomplete) string {
	return fmt.Sprintf("%s %s", excerpt.Sentence(excerpt.Capital(excerpt.Line(incomplete.Message, maxCause))), remedy(incomplete.Reason))
}
