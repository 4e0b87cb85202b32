package audit

import (
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// Whenever an audit is made, it calls on a working day in the morning, the first of its month, and on the weekend at night,
// the last of it, in spring and in summer; and the year turns while a week goes by.
func TestClocks(t *testing.T) {
	berlin := time.FixedZone("Berlin", 60*60)
	for hour := range 24 * 8 {
		now := time.Date(2026, 2, 25, 0, 30, 0, 0, berlin).Add(time.Duration(hour) * 49 * time.Hour)
		year := aWeek(now, nil)
		if from, to := now.Add(year.Forward), now.Add(year.Forward+year.Seen(week)); from.Before(now) || from.Month() != time.December || to.Month() != time.January || to.Day() < 2 {
			t.Errorf("week: from %s to %s", from, to)
		}
		if then := now.UTC().Add(weekend(now).Forward); then.Month() < time.July || then.Month() > time.October {
			t.Errorf("weekend: %s for %s", then, now)
		}
		if then := now.Add(afternoon(now).Forward).UTC(); then.Before(now.AddDate(0, 0, 1)) || then.Month() != time.April || free(then) ||
			then.Hour() != 19 || then.Day() < 11 || then.Day() > 20 {
			t.Errorf("afternoon: %s for %s", then, now)
		}
		for name, tc := range map[string]struct {
			forward  time.Duration
			from, to int
			most     time.Duration
			weekend  bool
		}{
			"workday": {workday(now).Forward, 9, 12, 496 * 24 * time.Hour, false},
			"weekend": {weekend(now).Forward, 2, 5, 496 * 24 * time.Hour, true},
		} {
			then := now.Add(tc.forward)
			weekend := then.Weekday() == time.Saturday || then.Weekday() == time.Sunday
			if tc.forward <= 0 || tc.forward > tc.most || then.Hour() < tc.from || then.Hour() >= tc.to || weekend != tc.weekend ||
				then.Day() != 1 && then.AddDate(0, 0, 1).Day() != 1 || (then.Day() == 1) == tc.weekend {
				t.Errorf("%s: %s for %s", name, then, now)
			}
		}
	}
}

// A date or an hour in the code is when a launch takes place, unless it takes place then anyway.
func TestClocksOfTheCode(t *testing.T) {
	now := time.Now()
	code := func(program string) (runs []observation) {
		var values sources.Values
		values.AddProgram(program, false)
		runs = []observation{watched()}
		runs[0].moments = values.Moments
		return runs
	}
	far, hours := code(`if (Date.now() > Date.parse("2034-05-06")) go()`), code(`if (new Date().getUTCHours() === 4) go()`)
	for name, tc := range map[string]struct {
		runs  []observation
		holds func(time.Time) bool
	}{
		"a date":   {far, func(at time.Time) bool { return at.Year() == 2034 && at.Day() == 6 }},
		"an hour":  {hours, func(at time.Time) bool { return at.Hour() == 4 && at.After(now) }},
		"anyway":   {code(`if (new Date().getFullYear() > 2020 && new Date().getHours() > 8) go()`), func(at time.Time) bool { return at.Month() == time.April }},
		"no dates": {code(""), func(at time.Time) bool { return at.Month() == time.April }},
	} {
		var how launch
		atHome(Plan{}, &how, tc.runs)
		zone := set(how.identity.env)["TZ"]
		if then := time.Now().Add(how.clock.Forward).UTC(); !tc.holds(then) || (zone == "Etc/UTC") != (name == "a date" || name == "an hour") {
			t.Errorf("%s: at home at %s in %s", name, then, zone)
		}
	}
}

// Everything is called again when three more days have gone by, where there is time to call it first.
func TestTheWeekGoesOn(t *testing.T) {
	clock := func(took time.Duration) []observation {
		return []observation{{how: launch{moment: report.MomentClock, once: true}, took: took, result: probe.Result{Listed: true}}}
	}
	for name, tc := range map[string]struct {
		runs  []observation
		again time.Duration
	}{
		"at once": {clock(10 * time.Millisecond), 4 * time.Second}, "soon": {clock(2 * time.Second), 7 * time.Second},
		"slowly": {clock(10 * time.Second), 0}, "never": {nil, 0},
	} {
		c := aWeek(time.Now(), tc.runs)
		if c.Again != tc.again || c.Seen(week) < 7*24*time.Hour {
			t.Errorf("%s: %s", name, c)
		}
		o := Plan{}.options(launch{moment: report.LaunchWeek, once: true, clock: c})
		if twice := tc.again > 0; twice != (o.Rounds == 2 && o.MaxCalls == 2 && !o.Until.IsZero()) {
			t.Errorf("%s: %d rounds until %s", name, o.Rounds, o.Until)
		}
	}
}
