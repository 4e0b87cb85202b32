package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The clocks of launches at another time. Between them and the true time, a server that acts at certain hours, or
// on certain days, is called on a working day that is the first of a month, and at night on a weekend day that is the
// last of one; and one year ends and another begins while it runs.

// workday is a clock that shows the morning of the first day of a month that is a working day, more than a year ahead.
// The sinkhole's certificates are valid that long.
func workday(now time.Time) trace.Clock {
	then := time.Date(now.Year(), now.Month(), now.Day()+402, 10, 15, 0, 0, now.Location())
	for free(then) || then.Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// weekend is a clock that shows the last day of a month that is on a weekend, more than a day ahead, between three and
// five at night in central Europe, where the client of that launch is.
func weekend(now time.Time) trace.Clock {
	now = now.UTC()
	then := time.Date(now.Year(), now.Month(), now.Day()+1, 2, 10, 0, 0, time.UTC)
	for !free(then) || then.AddDate(0, 0, 1).Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// free reports whether a day is on a weekend.
func free(day time.Time) bool { return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday }

// aWeek is a clock by which a week goes by in seconds, at the turn of the next year. It ends on another day of the week
// than it begins on. Where everything can be called soon enough, three more days go by after the calls, for what a call
// has begun may act only then; and the year turns in these, during which everything is called again.
func aWeek(now time.Time, runs []observation) trace.Clock {
	c, from := trace.Clock{Rate: 210_000, For: week}, 28
	if before, made := at(runs, report.MomentClock); made && before.compared() && before.took < mostAgain {
		c.Again, from = week+max(time.Second, 2*before.took), 23
	}
	begins := time.Date(now.Year(), time.December, from, 8, 40, 0, 0, now.Location())
	if begins.Before(now) {
		begins = begins.AddDate(1, 0, 0)
	}
	c.Forward = begins.Sub(now)
	return c
}

// leftAlone is how long, in true time, the server is not called at the end of these days: some hours of the clock.
const leftAlone = 300 * time.Millisecond

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
