package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The clocks of launches at another time. Between them and the true time, a server that acts at certain hours, or
// on certain days, is called on a working day and in a night of the weekend.

// workday is a clock by which it is a working day more than a year ahead, in the morning. The sinkhole's
// certificates hold as long.
func workday(now time.Time) trace.Clock {
	then := time.Date(now.Year(), now.Month(), now.Day()+402, 10, 15, 0, 0, now.Location())
	for then.Weekday() == time.Saturday || then.Weekday() == time.Sunday {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// weekend is a clock by which the next weekend has begun that is more than a day ahead: it is between three
// and five at night in central Europe, where that launch is.
func weekend(now time.Time) trace.Clock {
	now = now.UTC()
	then := time.Date(now.Year(), now.Month(), now.Day()+1, 2, 10, 0, 0, time.UTC)
	for then.Weekday() != time.Saturday {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// aWeek is a clock by which a week goes by in seconds, with some hours to spare. It ends on
// another day of the week than it begins. Two days more go by when everything was called, which took as long as
// another launch, or twice that: what a call begins may come to something only then.
func aWeek(runs []observation) trace.Clock {
	c := trace.Clock{Forward: 24 * time.Hour, Rate: 210_000, For: week}
	if before, made := at(runs, report.MomentClock); made && before.compared() && before.took < mostAgain {
		c.Again = week + max(time.Second, 2*before.took)
	}
	return c
}

// mostAgain is how long everything may take to be called for it to be called twice as time goes by.
const mostAgain = 6 * time.Second

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
