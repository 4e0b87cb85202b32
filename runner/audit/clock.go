package audit

import (
	"cmp"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Clocks for the launches at another time. Together with the true time, they call the server on a working day that is
// the first of a month, at night on a weekend day that is the last of one, on an afternoon in the middle of one, and
// at the turn of a year, in each season, because it may act only then.

// workday returns a clock that shows the morning of a working day that is the first of a month, more than a year
// ahead.
func workday(now time.Time) trace.Clock {
	then := time.Date(now.Year(), now.Month(), now.Day()+402, 10, 15, 0, 0, now.Location())
	for free(then) || then.Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// weekend returns a clock that shows the next weekend day from July on that is the last of a month, more than a day
// ahead, between three and five at night in central Europe, the location of that launch's client.
func weekend(now time.Time) trace.Clock {
	now = now.UTC()
	then := nextFrom(time.July, now, 2, 10)
	for !free(then) || then.AddDate(0, 0, 1).Day() != 1 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// afternoon returns a clock that shows an afternoon in America, the location of that launch's client, on a Tuesday,
// Wednesday or Thursday in the middle of April, more than a day ahead.
func afternoon(now time.Time) trace.Clock {
	now = now.UTC()
	then := nextFrom(time.April, now, 19, 25)
	for then.Weekday() < time.Tuesday || then.Weekday() > time.Thursday || then.Day() < 11 || then.Day() > 20 {
		then = then.AddDate(0, 0, 1)
	}
	return trace.Clock{Forward: then.Sub(now)}
}

// nextFrom returns a time of day on the first of a month that begins more than a day ahead.
func nextFrom(month time.Month, now time.Time, hour, minute int) time.Time {
	then := time.Date(now.Year(), month, 1, hour, minute, 0, 0, now.Location())
	if then.Before(now.AddDate(0, 0, 1)) {
		then = then.AddDate(1, 0, 0)
	}
	return then
}

// free reports whether a day is on a weekend.
func free(day time.Time) bool { return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday }

// aWeek returns a clock by which a week passes in seconds, at the turn of the next year, so that it ends on another
// weekday than it begins. If everything can be called soon enough, three more days pass after the calls, because
// effects of a call may be delayed. The year ends during these days, and everything is called again.
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

// leftAlone is the real time without calls at the end of these days: some hours of the clock.
const leftAlone = 300 * time.Millisecond

// mostAgain bounds how long calling everything may take if it is to be called twice.
const mostAgain = 6 * time.Second

// clock adds the gap if the behavior at a later date is unknown.
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
