package verdict

import (
	"fmt"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxCause bounds what is told of a failure, in bytes of JSON, so that what to do
// about it is never cut off.
const maxCause = 560

// again is for what mends itself, or is mended outside of the spec.
const again = " To have it audited again, set the annotation " + v1alpha1.RequestedAtAnnotation + " to a new value."

// remedy says what helps against a reason. What a change of the spec mends is audited
// again by itself. docs/troubleshooting.md has more.
func remedy(reason report.Reason) string {
	cause, _ := report.CauseOf(reason)
	if cause.Outside {
		return cause.Remedy + again
	}
	return cause.Remedy
}

// explain returns what happened and what to do about it.
func explain(incomplete report.Incomplete) string {
	return fmt.Sprintf("%s %s", excerpt.Sentence(excerpt.Capital(excerpt.Line(incomplete.Message, maxCause))), remedy(incomplete.Reason))
}
