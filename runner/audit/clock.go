package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// later is a clock that is farther ahead than a month, and than any trial period of one. The
// sinkhole's certificates hold as long.
var later = trace.Clock{Forward: 45 * 24 * time.Hour}

// aDay is a clock by which a day goes by in seconds, with an hour to spare.
var aDay = trace.Clock{Rate: 30000, For: day}

// clock returns why it was not seen what the server does at a later date.
func (c *collection) clock(o observation) {
	when := map[report.Moment]string{report.MomentClock: "at a later date", report.LaunchDay: "as a day goes by"}[o.how.moment]
	switch {
	case when == "" || o.compared():
	case o.launched != nil:
		c.add("ClockNotShifted", 1, "the server was not seen "+when+": "+o.launched.Error())
	default:
		c.add("ClockNotShifted", 1, "the server was not seen "+when+": "+cmp.Or(o.unanswered().Message, "the lists did not come whole"))
	}
}
