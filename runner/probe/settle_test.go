package probe

import (
	"testing"
	"testing/synctest"
	"time"
)

// The ledger says when the wait after a response ended, and whether the server
// was quiet by then.
func TestSettle(t *testing.T) {
	o := quick
	o.SettleMost, o.SettleBudget = 5*time.Millisecond, time.Minute
	for name, tc := range map[string]struct {
		active   func() time.Time
		budget   time.Duration
		restless bool
	}{
		"nobody watches":        {nil, time.Minute, false},
		"nothing was seen":      {func() time.Time { return time.Time{} }, time.Minute, false},
		"a server never still":  {func() time.Time { return time.Now().Add(time.Hour) }, time.Minute, true},
		"a server with a timer": {nil, time.Minute, true},
		"no time to wait":       {func() time.Time { return time.Now().Add(time.Hour) }, time.Nanosecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, o := &fake{active: tc.active}, o
				if name == "a server with a timer" {
					f.pending = func() (time.Duration, bool) { return time.Hour, true }
				}
				o.SettleBudget = tc.budget
				start := time.Now()
				r := f.within(t, time.Hour, o)
				if r.Incomplete.Reason != "" || len(r.Ledger) != 4 {
					t.Fatalf("%+v", r)
				}
				for i, e := range r.Ledger {
					if e.Settled.Before(start) || e.StillBusy != tc.restless {
						t.Errorf("exchange %d: settled %v, restless %t, want %t", i, e.Settled, e.StillBusy, tc.restless)
					}
					if timer := tc.active == nil && tc.restless; timer != e.Due.After(start.Add(time.Minute)) {
						t.Errorf("exchange %d: due %v", i, e.Due)
					}
					start = e.Settled
				}
			})
		})
	}
}

// However many tools there are, the waits are bounded in their sum.
func TestWindow(t *testing.T) {
	s := &session{options: Options{Settle: 50, SettleMost: 500, SettleBudget: 1000}}
	for _, tc := range []struct{ settled, quiet, most time.Duration }{
		{0, 50, 500}, {500, 50, 500}, {501, 50, 50}, {980, 20, 20}, {1000, 0, 0}, {1200, 0, 0},
	} {
		s.settled = tc.settled
		if quiet, most := s.window(); quiet != tc.quiet || most != tc.most {
			t.Errorf("after %d: %d of at most %d, want %d, %d", tc.settled, quiet, most, tc.quiet, tc.most)
		}
	}
}
