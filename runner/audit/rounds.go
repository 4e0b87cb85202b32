package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// After the exercise, the server is launched again as the table afterwards says: to see whether it advertises the
// same with the files that it left (Restart), for another client (Identity), with its clock set forward (Clock), and
// as a week passes (Week). Then follow other surroundings (Disguise), stand-ins for missing programs (StandIns), a
// network that refuses (Refused), other decoys (Decoys), and attempts on its guards (Attack). If a launch shows
// another manifest, Restart is repeated, because the server may by then advertise something else to everybody.
// Restart only lists; the others also call everything, because a server may behave differently in them.
//
// Restart and Identity are part of every audit: without time for them it is Inconclusive. A failed launch at another
// time is a gap.

const (
	// mostReserved bounds how much time is reserved for the launches after the exercise; of a short audit, a quarter
	// is.
	mostReserved = time.Minute
	// neededLaunches is how many of them every audit needs.
	neededLaunches = 2
	// onceTimeout bounds a call for another client. The exercise has shown how slow calls end.
	onceTimeout = 2 * time.Second
	// week is the real time in which a week passes.
	week = 3 * time.Second
	// mostOptional bounds a launch that is not needed: with every connection refused, a server may retry forever. On
	// a slow machine it is extended by slowness times the duration of Restart.
	mostOptional, slowness = 30 * time.Second, 4
	// deepTime multiplies that time at depth Deep.
	deepTime = 4
)

var errQuick = errors.New("probe.depth is Quick")

// reserved returns how much of an audit's time the exercise does not get.
func reserved(timeout time.Duration) time.Duration { return min(timeout/4, mostReserved) }

// extra is a row of the table of launches.
type extra struct {
	moment report.Moment
	again  bool
	// how describes the launch for people.
	how string
	// needed launches are part of every audit. The others are skipped at depth Quick.
	needed bool
	// most bounds its time; 0 for no bound. half leaves at least half of the remaining time to later launches, unless
	// Restart took long.
	most time.Duration
	half bool
	// when reports whether the launch takes place; nil for always.
	when func(plan Plan, runs []observation) bool
	// change turns a launch that only lists into this one; nil if it only lists.
	change func(plan Plan, how *launch, runs []observation)
	// prevent sets how.impossible if there can be no such launch; nil if there always can.
	prevent func(how launch, plan Plan, runs []observation) launch
}

// afterwards lists the launches after the exercise, in order.
var afterwards = []extra{
	{moment: report.MomentRestart, how: "with the files that it had left", needed: true},
	{moment: report.MomentIdentity, how: "for a client of another name", needed: true, half: true,
		change: identify},
	{moment: report.MomentClock, how: "with its clock set forward", most: mostOptional,
		change: func(plan Plan, how *launch, runs []observation) {
			callAgain(plan, how, runs)
			how.clock, how.identity, how.favourite = workday(time.Now()), zed, 1
		}},
	{moment: report.LaunchWeek, how: "with a week going by in seconds", most: mostOptional,
		change: func(plan Plan, how *launch, runs []observation) {
			callReworded(plan, how, runs)
			how.wait, how.clock, how.identity = trace.MostTrue+week, aWeek(time.Now(), runs), visualStudioCode
			how.unhurried, how.abrupt = reaching(runs), true
		}},
	{moment: report.MomentRestart, again: true, how: "with the files that it had left", needed: true,
		when: func(_ Plan, runs []observation) bool { return suspects(runs) }},
	{moment: report.LaunchDisguise, how: "for a client in the editor of somebody abroad", most: mostOptional, change: disguise},
	{moment: report.LaunchDisguise, again: true, how: "for a client in a terminal, with a project in the user's home", most: mostOptional, change: atHome},
	{moment: report.LaunchStandIns, how: "with stand-ins for what it says it lacks", most: mostOptional, change: standIn, prevent: unmissed},
	{moment: report.LaunchStandIns, again: true, how: "with stand-ins for what it lacks besides", most: mostOptional, change: standIn, when: Plan.asksOn},
	{moment: report.LaunchRefused, how: "with every connection refused", most: mostOptional, change: refuse, prevent: unrefusable},
	{moment: report.LaunchDecoys, how: "with other decoys", most: mostVaried, half: true, change: vary, prevent: unvaried},
	{moment: report.LaunchAttack, how: "to try its guards", most: mostAttack, change: attackAll, prevent: unattackable},
}

// row returns the row of a launch; the zero row for the exercise.
func (how launch) row() extra {
	for _, row := range afterwards {
		if row.moment == how.moment && row.again == how.again {
			return row
		}
	}
	return extra{}
}

// launchAll makes all launches, one after the other. A launch that there was no time for is an observation, too.
func launchAll(ctx context.Context, plan Plan, start func(context.Context, launch) observation) []observation {
	exercise, cancel := context.WithTimeout(ctx, plan.Timeout-reserved(plan.Timeout))
	defer cancel()
	var runs []observation
	for {
		how, more := plan.next(runs)
		if !more || errors.Is(ctx.Err(), context.Canceled) {
			return runs
		}
		row, within := how.row(), exercise
		if how.moment != "" {
			var end context.CancelFunc
			within, end = row.within(ctx, plan.Probe.Depth, runs)
			defer end()
		}
		switch {
		case how.moment != "" && !row.needed && plan.Probe.Depth == report.DepthQuick:
			how.impossible = errQuick
		case row.prevent != nil:
			how = row.prevent(how, plan, runs)
		}
		o := observation{launched: how.impossible}
		if o.launched == nil && len(runs) > 0 {
			o.launched = within.Err()
		}
		if o.launched == nil {
			plan.Progress(begin(how))
			began := time.Now()
			switch {
			case how.attack != nil:
				o = tryGuards(within, how, start)
			case how.vary:
				o = plan.varied(within, how, runs, start)
			default:
				o = start(within, how)
			}
			o.took = time.Since(began)
		}
		o.how = how
		if len(runs) > 0 {
			known := exercised(runs).result.Manifest
			o.result.Manifest, o.result.After = o.result.Manifest.With(o.result.Silent, known), o.result.After.With(o.result.Silent, known)
			first := runs[0].result.Manifest
			o.result.Manifest, o.result.After = o.result.Manifest.Or(first), o.result.After.Or(first)
		}
		runs = append(runs, o)
	}
}

// following returns how many needed launches come after this one.
func (how launch) following() int {
	if how.moment != "" {
		return 0
	}
	return neededLaunches
}

// within bounds the time of a launch.
func (row extra) within(ctx context.Context, depth report.Depth, runs []observation) (context.Context, context.CancelFunc) {
	restart, _ := at(runs, report.MomentRestart)
	slow := slowness * restart.took
	var most time.Duration
	if row.most > 0 {
		most = row.most + slow
	}
	if depth == report.DepthDeep {
		most *= deepTime
	}
	if deadline, ok := ctx.Deadline(); ok && row.half {
		share := max(time.Until(deadline)/2, slow)
		most = min(cmp.Or(most, share), share)
	}
	if most == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, most)
}

// next returns the next launch; false if there is none.
func (p Plan) next(runs []observation) (launch, bool) {
	if len(runs) == 0 {
		return launch{asked: p.registered(), identity: anyClient}, true
	}
	first := exercised(runs)
	if how, again := p.anew(first, runs); again {
		return how, true
	}
	if first.result.NeedDiscover || !first.result.Listed || first.unwatched().Reason != "" || first.result.Manifest.TooLong() {
		return launch{}, false // nothing to compare with, or too much to judge
	}
	for _, row := range afterwards {
		run, done := row.in(runs)
		switch {
		case done && row.needed && !run.compared():
			return launch{}, false // it would fail again
		case done, row.when != nil && !row.when(p, runs):
			continue
		}
		how := first.how.same()
		how.listOnly, how.moment, how.again, how.neighbours = true, row.moment, row.again, first.sought
		how.silent = first.result.Silent
		if row.change != nil {
			row.change(p, &how, runs)
		}
		return how, true
	}
	return launch{}, false
}

// anew returns the launch that repeats the exercise, if the first one only showed how the server must be started or
// addressed, or what it lacks.
func (p Plan) anew(first observation, runs []observation) (how launch, again bool) {
	how = first.how.same()
	if to := first.detected; to != nil {
		how.detected, how.discover = to, to.discover
		return how, true
	}
	if first.result.NeedDiscover && !first.how.discover {
		how.discover = true
		return how, true
	}
	early := first.exited && !first.result.Listed || first.barren()
	if !early && !p.refusedMost(first) || first.unwatched().Reason != "" || len(runs) >= maxAsking {
		return how, false
	}
	if how.standIns == nil {
		how.standIns = missing(runs)
	}
	how.asked, how.excluded = p.asked(first)
	how.neighbours = first.sought
	p.argue(&how, first, runs)
	return how, len(how.standIns) > len(first.how.standIns) || len(how.neighbours) > len(first.how.neighbours) ||
		!reflect.DeepEqual(how.asked, first.how.asked) || !slices.Equal(how.arguments, first.how.arguments)
}

// refusedMost reports whether fewer than half of the tools accepted a call, in at most half of the time: if the
// server lacked something that it can be given, there is time to exercise it again.
func (p Plan) refusedMost(o observation) bool {
	tools := o.result.Coverage.Tools
	return o.result.Listed && 2*tools.Accepted < tools.Listed && o.took <= p.Timeout/2
}

// same returns a launch like the exercise.
func (how launch) same() launch {
	return launch{detected: how.detected, discover: how.discover, standIns: how.standIns, asked: how.asked, excluded: how.excluded, arguments: how.arguments, identity: how.identity}
}

// in returns the run of a row; false if there is none.
func (row extra) in(runs []observation) (run observation, done bool) {
	for _, o := range runs {
		if o.how.moment == row.moment && o.how.again == row.again {
			return o, true
		}
	}
	return observation{}, false
}

// exercised returns the run that exercised the server: the first, or a later one if the first only showed how to
// address it.
func exercised(runs []observation) observation {
	last := 0
	for last+1 < len(runs) && runs[last+1].how.moment == "" {
		last++
	}
	return runs[last]
}

// at returns the first run of a moment; false if there is none.
func at(runs []observation, moment report.Moment) (run observation, done bool) {
	return extra{moment: moment}.in(runs)
}

// compared reports whether a run has listed everything. Failing calls after that do not matter.
func (o observation) compared() bool {
	return o.launched == nil && o.result.Listed && (o.how.once || o.unanswered().Reason == "")
}

// begin describes a launch for people.
func begin(how launch) string {
	switch {
	case how.moment != "":
		return "start the server again, " + how.row().how
	case how.standIns != nil || how.asked != nil || how.arguments != nil:
		return "start the server again, with what it says it lacks"
	case how.discover:
		return "start the server again, for the revision without a handshake"
	case how.detected != nil:
		return fmt.Sprintf("start the server again, to talk to it on port %d", how.detected.Port)
	}
	return "start the server"
}
