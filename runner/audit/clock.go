package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The clocks of launches at another time. Between them and the true time, a server that acts at certain hours, or
// on certain days, is called on a working day that is the first of its month and in a night of the weekend that is
// the last, and waits while one year ends and another begins.

// workday is a clock by which it is a working day more than a year ahead, the first of its month, in the morning. The
// sinkhole's certificates hold as long.
func workday(now time.Time) trace.Clock {
	then := time.Date(now.Year(), now.Month(), now.Day()+402, 10, 15, 0, 0, now.Location())
	for free(then) || then.Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// weekend is a clock by which it is the next day of a weekend that is the last of its month, more than a day ahead:
// between three and five at night in central Europe, where that launch is.
func weekend(now time.Time) trace.Clock {
	now = now.UTC()
	then := time.Date(now.Year(), now.Month(), now.Day()+1, 2, 10, 0, 0, time.UTC)
	for !free(then) || then.AddDate(0, 0, 1).Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// free reports whether a day is one of a weekend.
func free(day time.Time) bool { return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday }

// aWeek is a clock by which the next week with the turn of a year goes by in seconds, with some hours to spare: with it
// ends and begins a month as well. It ends on another day of the week than it begins. Three days more go by when everything was called, which took as long as
// another launch, or twice that: what a call begins may come to something only then. The year turns in these, where there
// are any, for everything is called all the while.
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

// leftAlone is for how long, in true time, nothing is asked at the end of these days: some hours.
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
