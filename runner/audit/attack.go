package audit

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// mostAttack bounds the time of the launch that tries guards.
	mostAttack = 40 * time.Second
	// attackSettle is how long the server must be quiet after each call of that launch.
	attackSettle = 5 * time.Millisecond
	// attackTimeout bounds a call of that launch: what looks for a remote host or starts a large program takes seconds.
	attackTimeout = 6 * time.Second
	// maxAttackStarts bounds the starts of the server in that launch if attempts end it, and maxFatal the attempts on
	// one capability that may end it.
	maxAttackStarts = 8
	maxFatal        = 2
	// launchMarks separates the marks of these launches.
	launchMarks = 100_000
	// maxSeenFiles, maxSeenHosts and maxSeenPrograms bound the paths, hosts and programs of one capability that are
	// searched for values.
	maxSeenFiles    = 256
	maxSeenHosts    = 64
	maxSeenPrograms = 64
)

var (
	errAttackOff = errors.New("probe.attack is Off")
	errUncalled  = errors.New("probe.calls allows no calls")
)

// attackAll prepares the launch that tries guards: each tool is called with arguments that it has accepted, and then
// with one value changed at a time.
func attackAll(plan Plan, how *launch, runs []observation) {
	standIn(plan, how, runs) // with programs missing, many calls would fail before the guard
	how.identity = codex     // behavior that no attempt explains counts as well
	how.calls, how.given = 0, map[string]json.RawMessage{}
	for _, o := range slices.Backward(runs) { // the exercise takes precedence
		maps.Copy(how.given, o.result.Accepted)
	}
	how.attack = &attack.Plan{Seen: seenIn(runs), Dirs: plan.bound(), Closed: plan.Network != report.NetworkAllow}
	maps.Copy(how.given, furthest(runs, how.given, how.attack.Seen))
	how.attack.Unlisted = attack.Unlisted(runs[0].tools)
	how.attack.Planted = how.attack.Outside(how.given)
	how.lures, how.outside = plan.lures(how.attack.Bases(how.given)), how.attack.Planted
}

// callTimeout bounds a call of a launch in which everything is called once.
func (how launch) callTimeout() time.Duration {
	if how.attack != nil {
		return attackTimeout
	}
	return onceTimeout
}

// furthest returns, for tools that accepted no call, the arguments of the refused call that came furthest, and for those
// whose accepted one shows nowhere in what they did, the arguments of another accepted call that came furthest.
func furthest(runs []observation, accepted map[string]json.RawMessage, seen map[report.Capability]attack.Seen) map[string]json.RawMessage {
	most, best := map[string]int{}, map[string]json.RawMessage{}
	for _, o := range runs {
		for _, answer := range o.result.Outputs {
			name, arguments := answer.Capability.Name, json.RawMessage(answer.Arguments)
			kind, tool := report.OutputError, seen[answer.Capability]
			if accepted[name] != nil {
				kind = report.OutputResult
			}
			if answer.Capability.Kind != report.CapabilityTool || answer.Kind != kind || !json.Valid(arguments) ||
				accepted[name] != nil && (tool.Reached(accepted[name]) > 0 || inputs.HoldsInjection(answer.Arguments) || inputs.Planted(answer.Arguments)) {
				continue
			}
			if reached := tool.Reached(arguments); reached > most[name] {
				most[name], best[name] = reached, arguments
			}
		}
	}
	return best
}

// lures returns the directories that get a link and a sibling: those that tools stay in, and the home directory,
// because "~" leads there. The scratch directory is among them only if the command line names it.
func (p Plan) lures(bases []string) []string {
	bases = slices.DeleteFunc(slices.Clone(bases), func(dir string) bool {
		if dir == scratch {
			return !slices.Contains(p.bound(), dir)
		}
		return dir == p.Decoys.Home || p.holdsProgram(dir)
	})
	if p.Decoys.Home != "" {
		bases = append(bases, p.Decoys.Home)
	}
	return bases
}

// unattackable marks the launch as impossible if guards are not to be tried.
func unattackable(how launch, p Plan, _ []observation) launch {
	switch {
	case p.Probe.Attack == plan.AttackOff:
		how.impossible = errAttackOff
	case p.Probe.Calls == report.CallsNever:
		how.impossible = errUncalled
	}
	return how
}

// tryGuards runs the server to try its guards. If an attempt ends it, the server runs again for the remaining
// attempts. All these runs are one observation.
func tryGuards(ctx context.Context, how launch, start func(context.Context, launch) observation) observation {
	o := start(ctx, how)
	fatal := map[report.Capability]int{}
	for n := 1; n < maxAttackStarts && o.result.Attacks.Ended != (report.Capability{}) && ctx.Err() == nil && o.unwatched().Reason == ""; n++ {
		ended, again := o.result.Attacks.Ended, *how.attack
		again.FirstMark, again.Taken, again.Unlisted = n*launchMarks, maps.Clone(o.result.Attacks.Taken), nil
		if fatal[ended]++; fatal[ended] >= maxFatal {
			again.Taken[ended] = math.MaxInt
		}
		how.attack = &again
		next := start(ctx, how)
		if next.unwatched().Reason != "" || next.result.Attacks.Taken == nil {
			return o
		}
		next.profile.Effects = slices.Concat(o.profile.Effects, next.profile.Effects)
		next.statements = slices.Concat(o.statements, next.statements)
		next.requests = slices.Concat(o.requests, next.requests)
		next.result.Attempts = slices.Concat(o.result.Attempts, next.result.Attempts)
		next.result.Unlisted, next.result.Posture, next.result.Polluted = o.result.Unlisted, o.result.Posture, o.result.Polluted
		o = next
	}
	return o
}

// seenIn collects what each capability did in some launches.
func seenIn(runs []observation) map[report.Capability]attack.Seen {
	all := map[report.Capability]attack.Seen{}
	for _, o := range runs {
		for _, e := range o.profile.Effects {
			seen := all[e.Capability]
			switch e.Kind {
			case profile.KindExec:
				seen.Programs = true
				if words := e.Argv.Words(); len(words) > 1 && len(seen.Started) < maxSeenPrograms {
					seen.Started = append(seen.Started, words)
				}
			case profile.KindConnect:
				seen.Network = seen.Network || e.Protocol != "unix" && e.Protocol != "netlink"
				if e.Host != "" && len(seen.Hosts) < maxSeenHosts {
					seen.Hosts, seen.Ports = append(seen.Hosts, e.Host), append(seen.Ports, e.Port)
				}
			case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete, profile.KindAttempt:
				seen = touched(seen, e)
			}
			all[e.Capability] = seen
		}
	}
	return all
}

// touched adds an access to a file.
func touched(seen attack.Seen, e profile.Effect) attack.Seen {
	seen.Database = seen.Database || attack.Database(e.Path)
	if len(seen.Files) < maxSeenFiles {
		seen.Files = append(seen.Files, e.Path)
	}
	if e.Kind == profile.KindList && len(seen.Listed) < maxSeenFiles {
		seen.Listed = append(seen.Listed, e.Path)
	}
	return seen
}

// apart separates the launches that tried guards and varied decoys from the others, because only rules of their own
// read them.
func apart(all []observation) (runs []observation, attacked, varied observation) {
	for _, o := range all {
		switch o.how.moment {
		case report.LaunchAttack:
			attacked = o
		case report.LaunchDecoys:
			varied = o
		default:
			runs = append(runs, o)
		}
	}
	return runs, attacked, varied
}

// witness watches the trace for attempts that succeed, and for marked statements that change files.
type witness struct {
	mu     sync.Mutex
	proven map[int]bool
	stored []attack.Statement
}

// witness returns the witness of a launch that tries guards; nil for any other.
func (how launch) witness() *witness {
	if how.attack == nil {
		return nil
	}
	w := &witness{proven: map[int]bool{}}
	how.attack.Proven = w.saw
	return w
}

func (w *witness) event(e trace.Event) {
	if w == nil {
		return
	}
	switch e.Op {
	case trace.OpExec:
		if call, ok := inputs.InjectedBy(e.Path); ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.proven[call] = true
		}
	case trace.OpStore:
		if s, ok := attack.Stored(e.Data); ok && len(w.stored) < maxOverheard {
			s.Time = e.Time
			w.stored = append(w.stored, s)
		}
	}
}

func (w *witness) saw(call int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.proven[call]
}

// statements returns the statements that the sinkhole received, or that changed a local database. It is called after
// the trace has ended.
func (w *witness) statements(heard overheard, r probe.Result) []attack.Statement {
	if w == nil {
		return nil
	}
	return slices.Concat(heard.statements, w.stored, attack.ReadBack(r.Attempts, time.Now()))
}

// judgeAttacked returns findings about behavior that occurred only while guards were tried and that no attempt
// explains: the server may have waited for this client, or for as many calls.
func judgeAttacked(in rules.Input, attacked observation, found []report.Finding) []report.Finding {
	in.Occasion, in.Profile, in.Leaks = rules.Attacking, attacked.profile, nil
	in.Arguments = arguments([]observation{attacked})
	all := slices.DeleteFunc(rules.Judge(in), func(f report.Finding) bool {
		return slices.ContainsFunc(found, func(known report.Finding) bool { return known.Rule == f.Rule })
	})
	for i := range all {
		all[i].Message += " It did so only while its guards were tried."
	}
	return all
}
