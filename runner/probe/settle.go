package probe

import (
	"context"
	"time"
)

// awaitQuiet waits after a response until the server is quiet, so that its late effects are not
// attributed to the next request. It records the outcome in the last exchange of the ledger.
func (s *session) awaitQuiet(ctx context.Context) error {
	start := time.Now()
	quiet, most := s.window()
	for {
		active := s.active()
		last := start
		if active.After(start) {
			last = active
		}
		now := time.Now()
		wait := min(last.Add(quiet).Sub(now), start.Add(most).Sub(now))
		if wait <= 0 {
			s.settled += now.Sub(start)
			s.enter(start, now, active.Add(s.options.Settle).After(now))
			return nil
		}
		if err := s.pause(ctx, wait); err != nil {
			return err
		}
	}
}

// window returns the silence to wait for, and the bound on the wait.
func (s *session) window() (quiet, most time.Duration) {
	if s.enduring.Load() {
		return 0, 0
	}
	left := s.options.SettleBudget - s.settled
	quiet, most = s.options.Settle, s.options.SettleMost
	if left < s.options.SettleBudget/2 {
		most = quiet
	}
	return min(quiet, max(left, 0)), min(most, max(left, 0))
}

// active returns when the server was last seen to do something.
func (s *session) active() time.Time {
	if s.wire.conn.Active == nil {
		return time.Time{}
	}
	return s.wire.conn.Active()
}

// timerSlack bounds how early a timer may seem to be.
const timerSlack = 100 * time.Millisecond

// enter records when the wait after the last exchange ended, whether the server
// was still busy, and when its timer will fire, which it set after it had answered.
func (s *session) enter(answered, at time.Time, busy bool) {
	n := len(s.result.Ledger)
	if n == 0 {
		return
	}
	e := &s.result.Ledger[n-1]
	e.Settled, e.StillBusy = at, busy
	if busy || s.enduring.Load() || s.wire.conn.Pending == nil {
		return // repeated calls are all of the same target: whether a timer runs is asked after the last
	}
	if wait, pending := s.wire.conn.Pending(); pending {
		e.StillBusy = true
		if wait > 0 {
			e.Due = answered.Add(wait - timerSlack)
		}
	}
}
