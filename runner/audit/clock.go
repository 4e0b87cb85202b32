package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// later is a clock that is farther ahead than a year, on another day of the week. The
// sinkhole's certificates hold as long.
var later = trace.Clock{Forward: 402 * 24 * time.Hour}

// aWeek is a clock by which a week goes by in seconds, with some hours to spare. It ends on
// another day of the week than it begins.
var aWeek = trace.Clock{Forward: 24 * time.Hour, Rate: 210_000, For: week}

// clock returns why it was not seen what the server does at a later date.
func (c *collection) clock(o observation) {
	when := map[report.Moment]string{report.MomentClock: "at a later date", report.LaunchWeek: "as a week goes by"}[o.how.moment]
	switch {
	case when == "" || o.compared():
	case o.launched != nil:
		c.add("ClockNotShifted", 1, "the server was not seen "+when+": "+o.launched.Error())
	default:
		c.add("ClockNotShifted", 1, "the server was not seen "+when+": "+cmp.Or(o.unanswered().Message, "the lists did not come whole"))
	}
}
