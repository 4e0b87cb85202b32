package audit

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// suppress marks the findings that are known and accepted, and notes what was to be
// suppressed and did not come up: a suppression that is needed no more should go.
func suppress(r *report.Report, by []report.Suppression, now time.Time) {
	marked, unused := report.Suppress(r.Findings, by, now)
	r.Findings = marked
	for _, s := range unused {
		r.Errors = append(r.Errors, fmt.Sprintf("no finding of %s is about %q: its suppression (%s) is of no use", s.Rule, s.Match, s.Reason))
	}
}
