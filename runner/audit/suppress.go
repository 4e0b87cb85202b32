package audit

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// suppress marks known and accepted findings, and notes suppressions that match nothing, because they should be
// removed.
func suppress(r *report.Report, by []report.Suppression, now time.Time) {
	marked, unused := report.Suppress(r.Findings, by, now)
	r.Findings = marked
	for _, s := range unused {
		r.Errors = append(r.Errors, fmt.Sprintf("no finding of %s is about %q: its suppression (%s) is of no use", s.Rule, s.Match, s.Reason))
	}
}
