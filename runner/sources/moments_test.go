package sources

import (
	"strings"
	"testing"
	"time"
)

// monday is a Monday.
var monday = time.Date(2026, time.November, 30, 16, 30, 0, 0, time.UTC)

func next(program string, python bool) (time.Time, bool) {
	var m Moments
	m.add(scan(program, python), python)
	return m.Next(monday, monday)
}

// A program with a date or an hour in it is run then.
func TestMoments(t *testing.T) {
	for program, want := range map[string]string{
		`if (Date.now() > Date.parse("2029-03-01")) go();`:                                                 "2029-03-01 10:15 Thu",
		`const WHEN = 1893456000; if (Date.now() / 1000 > WHEN) go();`:                                     "2030-01-01 10:15 Tue",
		`if (new Date() >= new Date(2031, 4, 9)) go()`:                                                     "2031-05-09 10:15 Fri",
		`if (Date.now() > Date.UTC(2031, 0, 31, 8, 0)) go()`:                                               "2031-01-31 08:15 Fri",
		`if (Date.now() > 1.9e12) go()`:                                                                    "2030-03-17 18:01 Sun",
		`if (today() === "2027-07-05") go()`:                                                               "2027-07-05 10:15 Mon",
		`const now = new Date(); if (now.getDay() === 5 && now.getDate() === 13) go()`:                     "2027-08-13 00:00 Fri",
		`const h = new Date().getHours(); if (h >= 2 && h < 4) go()`:                                       "2026-12-01 02:00 Tue",
		`const AT = 3; if (new Date().getUTCHours() === AT && new Date().getMinutes() > 29)`:               "2026-12-01 03:30 Tue",
		`if ([0, 6].includes(d.getDay())) go()`:                                                            "2026-12-06 00:00 Sun",
		`switch (d.getMonth()) { case 1: go() }`:                                                           "2027-02-01 00:00 Mon",
		`if (new Date().toISOString().slice(5, 10) === "02-29") go()`:                                      "2028-02-29 00:00 Tue",
		`const week = Math.ceil(now.getDate() / 7); if (now.getDay() === 5 && week === 3) go()`:            "2026-12-18 00:00 Fri",
		`if (new Date().getMonth() + 1 === 3 && new Date().getDate() % 10 === 0) go()`:                     "2027-03-10 00:00 Wed",
		`if (Math.floor(Date.now() / 864e5) % 7 === 2 && d.getHours() * 60 + d.getMinutes() >= 1325) go()`: "2026-12-05 22:05 Sat",
		`if (2029 <= new Date().getFullYear()) go()`:                                                       "2029-01-01 00:00 Mon",
		`if (d.getHours() < 12) morning(); else if (d.getHours() < 18) afternoon()`:                        "2026-12-01 00:00 Tue",
		`if (d.getHours() === 3) a(); if (d.getHours() === 4) b()`:                                         "2026-12-01 03:00 Tue",
		`if (Date.now() > Date.parse("2029-03-01T09:00:00Z") && new Date().getDay() === 0)`:                "2029-03-04 00:00 Sun",
	} {
		at, found := next(program, false)
		if got := at.Format("2006-01-02 15:04 Mon"); !found || got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
	for program, want := range map[string]string{
		"if datetime.now() > datetime(2029, 3, 1): go()":                                 "2029-03-01 10:15 Thu",
		"if date.today() >= date.fromisoformat('2028-12-24'): go()":                      "2028-12-24 10:15 Sun",
		"now = datetime.now()\nif now.weekday() in (5, 6) and now.hour >= 22: go()":      "2026-12-05 22:00 Sat",
		"if int(time.strftime('%H')) == 23: go()":                                        "2026-11-30 23:00 Mon",
		"if time.strftime('%a') == 'Wed': go()":                                          "2026-12-02 00:00 Wed",
		"if now.strftime('%H:%M') == '03:07': go()":                                      "2026-12-01 03:07 Tue",
		"if now.strftime('%Y%m%d') > '20290312': go()":                                   "2029-03-12 10:15 Mon",
		"m = time.localtime().tm_mon\nif m == 7 and time.localtime().tm_mday == 4: go()": "2027-07-04 00:00 Sun",
		"if date.today().day // 7 == 2 and not date.today().weekday(): go()":             "2026-12-14 00:00 Mon",
		"if datetime.now().isoweekday() == 7: go()":                                      "2026-12-06 00:00 Sun",
	} {
		at, found := next(program, true)
		if got := at.Format("2006-01-02 15:04 Mon"); !found || got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

// TestHostileMoments: a program that adds a name to itself, and asks for what is never true, is read to its end.
func TestHostileMoments(t *testing.T) {
	const begin, end = "let a = new Date().getHours();", "if (a === 990) go(); if (d.getDay() === 9) go();"
	for _, middle := range []string{"a = a + a;", "a = -a;", "a = Math.floor(a);", "a = b(1)(2)(3)(4);"} {
		if at, found := next(begin+strings.Repeat(middle, 20_000)+strings.Repeat(end, 1000), false); found {
			t.Errorf("%s: %v", middle, at)
		}
	}
	for _, long := range []string{"-", "new ", "(", "a(", "1 +", "x = a("} {
		next("x = "+strings.Repeat(long, 100_000), false)
	}
}

// What is no date, or is past or too far ahead, moves nothing.
func TestNoMoments(t *testing.T) {
	for _, program := range []string{
		`const VERSION = "2025-06-18"; if (args.mode === "fast" && args.count > 3) go()`,
		`if (x > 2147483647 || x > 4294967295 || port === 20250) go()`,
		`const UNTIL = "2090-01-01"`, `if (size === 1048576) log("20 files")`, ``, `if (`, `switch (`, `"2029-13-45"`,
	} {
		if at, found := next(program, false); found {
			t.Errorf("%s: %v", program, at)
		}
	}
}
