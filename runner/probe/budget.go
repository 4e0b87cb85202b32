package probe

import (
	"context"
	"time"
)

// budget is the time for calls; a zero end means no bound.
type budget struct{ begin, end time.Time }

// newBudget reserves, out of the time until the deadline, what the lists and the idle time at the end of
// the session take, and what is kept for later sessions, at most half.
func newBudget(ctx context.Context, idle, kept time.Duration) budget {
	b := budget{begin: time.Now()}
	if deadline, has := ctx.Deadline(); has {
		left := time.Until(deadline)
		b.end = deadline.Add(-idle - min(left/10, 10*time.Second) - max(min(kept, left/2), 0))
	}
	return b
}

// kept returns the time to leave for the sessions that follow, beyond what is reserved: each may take twice as long
// to begin as this one.
func (s *session) kept() time.Duration {
	return 2*time.Duration(s.options.Following)*time.Since(s.began) - s.options.Reserved
}

// left returns the remaining time; bounded is false without a bound.
func (b budget) left() (left time.Duration, bounded bool) {
	if b.end.IsZero() {
		return 0, false
	}
	return time.Until(b.end), true
}

// leastLeft is the least time in which anything is begun.
const leastLeft = 50 * time.Millisecond

// hasTime reports whether there is time for anything more.
func (s *session) hasTime() bool {
	left, bounded := s.budget.left()
	return !bounded || left > leastLeft
}

// refusedShares is the number of shares of the time for a target that has accepted no call.
const refusedShares = 4

// affords reports whether there is time for a call of a target. Every target gets its first call
// before any exceeds its share: another call has to fit into the target's own share, and must leave the
// shares of those without a call. A target that has refused every call has several shares, because time
// that is left over is best spent there. The first call of a round may exceed the share while more than
// half of the time is left.
func (s *session) affords(t *target) bool {
	left, bounded := s.budget.left()
	switch {
	case !bounded:
		return true
	case left <= leastLeft:
		return false
	case t.sent == 0:
		return true
	}
	all := s.budget.end.Sub(s.budget.begin)
	share := all / time.Duration(len(s.targets))
	own := share
	if !t.served() {
		own *= refusedShares
	}
	ample := t.turns == 0 && s.waiting == 0 && left-t.slowest >= all/2
	return ample || t.spent+t.slowest <= own && left-t.slowest >= share*time.Duration(s.waiting)
}

// leastPatience is the least time for a first call, once another has timed out.
const leastPatience = 2 * time.Second

// firstShares is the number of shares for the first slow call while others wait for their first call.
const firstShares = 4

// promptPatience is the least time-out of a target that answered promptly in an earlier session, so that a
// slow machine is not mistaken for a stalling server.
const promptPatience = 10 * time.Second

// longest returns the longest time-out of a call of a target.
func (s *session) longest(t *target) time.Duration {
	if s.options.Prompt[t.of] {
		return max(s.options.CallTimeout, promptPatience)
	}
	return s.options.CallTimeout
}

// patience returns the time-out of a call, at most longest and half of the time that is left. While others wait for
// their first call it is at most some shares, and one share once a call has timed out.
func (s *session) patience(longest time.Duration) time.Duration {
	left, bounded := s.budget.left()
	if !bounded {
		return longest
	}
	most := max(left/2, time.Millisecond)
	share := left / time.Duration(s.waiting+1)
	switch {
	case s.waiting > 0 && s.timeouts > 0:
		most = min(most, max(share, leastPatience))
	case s.waiting > 0: // it is tried once more when all have had theirs
		most = min(most, max(firstShares*share, promptPatience))
	}
	return min(longest, most)
}
