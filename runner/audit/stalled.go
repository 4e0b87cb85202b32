package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// If a launch changes only the client, place or date, calls that were answered at once before are answered again. A
// server that waits instead may wait until it is no longer observed.

// unlisted returns why it is unknown what the server advertises, or does, when it is launched again.
func unlisted(runs []observation) report.Incomplete {
	for _, o := range runs {
		if o.how.row().needed && !o.compared() {
			return o.during(cmp.Or(o.unanswered(), report.Incomplete{Reason: report.ReasonProtocolError, Message: "the lists did not come whole"}))
		}
	}
	for _, o := range runs {
		if reason := o.stalled(); reason.Reason != "" {
			return o.during(reason)
		}
	}
	return report.Incomplete{}
}

// unlike returns the launches in other surroundings in which nothing is missing.
var unlike = []report.Moment{report.MomentIdentity, report.MomentClock, report.LaunchDisguise}

// stalled returns why it is unknown what the server does in other surroundings: it let the audit wait only there.
func (o observation) stalled() report.Incomplete {
	if o.launched != nil || !slices.Contains(unlike, o.how.moment) {
		return report.Incomplete{}
	}
	if reason := o.unanswered(); !o.result.Listed && reason.Reason == report.ReasonTimeout && o.took >= mostOptional {
		return reason
	}
	if stalled := o.result.Stalled; len(stalled) > 0 {
		return report.Incomplete{Reason: report.ReasonTimeout,
			Message: fmt.Sprintf("no answer to a call of the %s, which had answered at once before", stalled[0])}
	}
	return report.Incomplete{}
}

// uncalled returns the capabilities that accepted a call during the exercise, but answered none in other
// surroundings, for lack of time or because the server had exited.
func (c *collection) uncalled(o, first observation) {
	if o.launched != nil || !o.result.Listed || o.how.moment != report.LaunchWeek && !slices.Contains(unlike, o.how.moment) {
		return
	}
	accepted := map[report.Capability]bool{}
	for _, row := range first.result.Exercise {
		accepted[report.Capability{Kind: row.Kind, Name: row.Name}] = row.Calls.Done > 0
	}
	for _, row := range o.result.Exercise {
		of := report.Capability{Kind: row.Kind, Name: row.Name}
		switch row.Skipped {
		case report.SkippedTimeout, report.SkippedUnanswered, report.SkippedBudget:
			if accepted[of] {
				c.add("UncalledAgain", 1, "what had no answer when the server was started again, such as the "+of.String()+", "+o.how.row().how)
			}
		}
	}
}
