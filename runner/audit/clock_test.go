package audit

import (
	"testing"
	"time"
)

// Whenever an audit is made, it calls on a working day in the morning, and on the weekend at night.
func TestClocks(t *testing.T) {
	berlin := time.FixedZone("Berlin", 60*60)
	for hour := range 24 * 8 {
		now := time.Date(2026, 2, 25, 0, 30, 0, 0, berlin).Add(time.Duration(hour) * time.Hour)
		for name, tc := range map[string]struct {
			forward  time.Duration
			from, to int
			most     time.Duration
			weekend  bool
		}{
			"workday": {workday(now).Forward, 9, 12, 406 * 24 * time.Hour, false},
			"weekend": {weekend(now).Forward, 2, 5, 8 * 24 * time.Hour, true},
		} {
			then := now.Add(tc.forward)
			weekend := then.Weekday() == time.Saturday || then.Weekday() == time.Sunday
			if tc.forward <= 0 || tc.forward > tc.most || then.Hour() < tc.from || then.Hour() >= tc.to || weekend != tc.weekend {
				t.Errorf("%s: %s for %s", name, then, now)
			}
		}
	}
}
