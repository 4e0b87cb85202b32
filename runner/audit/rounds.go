package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// After the run in which it is exercised, a server is started again to see
// whether it advertises the same then: as it is, with the files that it has left
// (Restart), for a client of another name (Identity), and with its clock set
// forward (Clock). Where the last two show something else, it is started once
// more as it is, for it may be that the server advertises something else by then
// to everybody. These launches only list; that for another client also calls
// everything once, for a server may do something else for it, too.
//
// The first two are part of every audit: one that has no time to list is
// Inconclusive. The clock of many a server cannot be set forward; that is a gap.

const (
	// known is the client that the Identity launch says to be, by the name that it
	// gives itself: the one that servers meet most.
	known = "claude-ai"
	// mostReserved bounds what of an audit's time is kept for the launches after the
	// first at most; of a short one, a quarter is.
	mostReserved = time.Minute
	// onceTimeout is how long a call may take for another client. What it does when
	// it takes its time, the first launch has shown.
	onceTimeout = 2 * time.Second
)

// reserved returns what of the time of an audit the exercise does not get.
func reserved(timeout time.Duration) time.Duration { return min(timeout/4, mostReserved) }

// launchAll starts the server as often as it takes, the next time when the time
// before is over. A launch that there was no time for is an observation, too.
func launchAll(ctx context.Context, plan Plan, clock Clock, start func(context.Context, launch) observation) []observation {
	exercise, cancel := context.WithTimeout(ctx, plan.Timeout-reserved(plan.Timeout))
	defer cancel()
	var runs []observation
	for {
		how, more := next(runs)
		if !more || errors.Is(ctx.Err(), context.Canceled) {
			return runs
		}
		within := ctx
		if how.moment == "" {
			within = exercise
		} else if deadline, ok := ctx.Deadline(); ok && how.once {
			var end context.CancelFunc
			within, end = context.WithTimeout(ctx, time.Until(deadline)/2) // the rest is for the clock
			defer end()
		}
		if how.moment == report.MomentClock {
			how = shift(how, clock, runs)
		}
		o := observation{launched: how.impossible}
		switch {
		case how.impossible != nil:
		case len(runs) > 0 && within.Err() != nil:
			o.launched = within.Err()
		default:
			plan.Progress(begin(how))
			o = start(within, how)
		}
		o.how = how
		runs = append(runs, o)
	}
}

// next decides what the launches so far leave to see; false when that is nothing.
func next(runs []observation) (launch, bool) {
	if len(runs) == 0 {
		return launch{}, true
	}
	first := exercised(runs)
	if to := first.detected; to != nil {
		return launch{detected: to, discover: to.discover}, true
	}
	if first.result.NeedDiscover && !first.how.discover {
		return launch{detected: first.how.detected, discover: true}, true
	}
	if first.result.NeedDiscover || !first.result.Listed || first.unwatched().Reason != "" {
		return launch{}, false // there is nothing to compare with
	}
	how := launch{detected: first.how.detected, discover: first.how.discover, listOnly: true}
	for _, moment := range []report.Moment{report.MomentRestart, report.MomentIdentity, report.MomentClock} {
		how.moment, how.identity, how.listOnly, how.once = moment, "", true, false
		if moment == report.MomentIdentity {
			how.identity, how.listOnly, how.once = known, false, true
		}
		run, done := at(runs, moment)
		if !done {
			return how, true
		}
		if moment != report.MomentClock && !run.compared() {
			return launch{}, false // it has shown why, and would again
		}
	}
	how.moment, how.identity, how.again = report.MomentRestart, "", true
	return how, !runs[len(runs)-1].how.again && suspects(runs)
}

// exercised is the run in which the server was exercised: the first, or where that
// only showed that it has to be talked to differently, one that followed.
func exercised(runs []observation) observation {
	last := 0
	for last+1 < len(runs) && runs[last+1].how.moment == "" {
		last++
	}
	return runs[last]
}

// at is the first run of a moment; not done when there is none.
func at(runs []observation, moment report.Moment) (run observation, done bool) {
	for _, o := range runs {
		if o.how.moment == moment {
			return o, true
		}
	}
	return observation{}, false
}

// compared reports whether a run has shown what the server advertises. Calls that come
// to nothing after that take nothing away.
func (o observation) compared() bool {
	return o.launched == nil && o.result.Listed && (o.how.once || o.unanswered().Reason == "")
}

// begin says what a launch is for, for people.
func begin(how launch) string {
	switch {
	case how.detected != nil && !how.discover && how.moment == "":
		return fmt.Sprintf("start the server again, to talk to it on port %d", how.detected.Port)
	case how.discover && how.moment == "":
		return "start the server again, for the revision without a handshake"
	case how.moment == report.MomentRestart:
		return "start the server again, with the files that it has left"
	case how.moment == report.MomentIdentity:
		return fmt.Sprintf("start the server again, as the client %q", how.identity)
	case how.moment == report.MomentClock:
		return "start the server again, with its clock set forward"
	default:
		return "start the server"
	}
}
