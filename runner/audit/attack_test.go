package audit

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// attacked is a launch in which guards were tried, of a server that did something there.
func attacked(change ...func(*observation)) observation {
	o := watched(change...)
	o.how = launch{moment: report.LaunchAttack, attack: &attack.Plan{}}
	return o
}

// TestAttackCountsForItsRulesAlone: what a server is made to do is neither what it does nor a
// reason.
func TestAttackCountsForItsRulesAlone(t *testing.T) {
	of := report.Capability{Kind: report.CapabilityTool, Name: "t"}
	hit := profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: "/srv/marlow-run-c7", Error: "ENOENT", Within: "/bin/sh"}}
	hit.Phase, hit.Capability = report.PhaseCall, of
	alone := conclude(Plan{}, []observation{listing("Shows.")}, time.Time{})
	for name, o := range map[string]observation{
		"proven": attacked(func(o *observation) {
			o.profile.Effects = []profile.Effect{hit}
			o.result.Attempts = []attack.Attempt{{Of: of, Family: attack.Command, Field: "x", Call: 7}}
		}),
		"lost":      attacked(func(o *observation) { o.lost, o.profile.Effects = true, []profile.Effect{hit} }),
		"overflown": attacked(func(o *observation) { o.stats.Overflow = true }),
		"exited":    attacked(incompleteProbe(report.ReasonServerExited, "the server exited")),
		"not made":  {how: launch{moment: report.LaunchAttack}, launched: errAttackOff},
	} {
		r := conclude(Plan{}, []observation{listing("Shows."), o}, time.Time{})
		if found := len(r.Findings); (found == 1) != (name == "proven") {
			t.Errorf("%s: %d findings: %+v", name, found, r.Findings)
		}
		gap := name == "lost" || name == "overflown"
		if len(r.Profile.Capabilities) > 0 || r.Behavior.Digest != alone.Behavior.Digest || (len(r.Unobserved) > 0) != gap || (r.Assurance.Level != alone.Assurance.Level) != gap || r.Reason != alone.Reason {
			t.Errorf("%s: the launch counts: %+v", name, r)
		}
		if last := r.Probe.Runs[len(r.Probe.Runs)-1]; last.For != report.LaunchAttack {
			t.Errorf("%s: launches %+v", name, r.Probe.Runs)
		}
	}
}

// TestJudgedWhereGuardsWereTried: a server that acts for the client of that launch alone, or after as many calls, is
// found. What it has done before as well is found once.
func TestJudgedWhereGuardsWereTried(t *testing.T) {
	of := report.Capability{Kind: report.CapabilityTool, Name: "t"}
	login := profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: "/home/ada/.bashrc", Operation: "openat"}}
	login.Phase, login.Capability = report.PhaseCall, of
	note := login
	note.Path = "/home/ada/notes/a.txt" // a guard that breaks may lead to files: its rules judge that
	wrote := func(all ...profile.Effect) func(*observation) {
		return func(o *observation) { o.profile.Effects = all }
	}
	for name, tc := range map[string]struct {
		before, tried []profile.Effect
		want          int
	}{
		"only there": {nil, []profile.Effect{login}, 1},
		"before":     {[]profile.Effect{login}, []profile.Effect{login}, 1},
		"a file":     {nil, []profile.Effect{note}, 0},
	} {
		r := conclude(Plan{}, []observation{listing("Shows.", wrote(tc.before...)), attacked(wrote(tc.tried...))}, time.Time{})
		if len(r.Findings) != tc.want {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

func TestUnattackable(t *testing.T) {
	for want, probe := range map[error]plan.Probe{
		nil: {}, errAttackOff: {Attack: plan.AttackOff}, errUncalled: {Calls: report.CallsNever},
	} {
		if got := unattackable(launch{}, Plan{Probe: probe}, nil).impossible; !errors.Is(got, want) {
			t.Errorf("%+v: %v, want %v", probe, got, want)
		}
	}
}

// TestAttackGoesByWhatWasSeen: what the exercise had accepted comes before what another launch
// had, and which tools start programs is known.
func TestAttackGoesByWhatWasSeen(t *testing.T) {
	of := report.Capability{Kind: report.CapabilityTool, Name: "a"}
	first, aided := watched(), watched()
	first.result.Accepted = map[string]json.RawMessage{"a": json.RawMessage(`{"x":1}`)}
	aided.result.Accepted = map[string]json.RawMessage{"a": json.RawMessage(`{"x":2}`), "b": json.RawMessage(`{}`)}
	started := profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: "/usr/bin/kubectl", Error: "ENOENT", Argv: profile.NewArgv("kubectl")}}
	started.Capability = of
	started.Path = "kubectl"
	first.profile.Effects = []profile.Effect{started}
	other := report.Capability{Kind: report.CapabilityTool, Name: "refusing"}
	failed := profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: "/bin/sh", Argv: profile.NewArgv("sh", "-c", "kubectl get pods")}}
	failed.Capability = other
	first.profile.Effects = append(first.profile.Effects, failed)
	for _, arguments := range []string{`{"command":"nonsense"}`, `{"command":"get"}`, `{"command":"get pods","output":"pods"}`, `{"command":"get pods"}`, `{"command":"get pods","output":"pods"}`, `{"command":"get`} {
		first.result.Outputs = append(first.result.Outputs, report.Output{Kind: report.OutputError, Capability: other, Arguments: arguments})
	}
	idle := report.Capability{Kind: report.CapabilityTool, Name: "remove"}
	first.result.Accepted["remove"] = json.RawMessage(`{"names":["1"]}`)
	removed := profile.Effect{Fact: profile.Fact{Kind: profile.KindDelete, Path: "/srv/plan.txt"}}
	removed.Capability = idle
	first.profile.Effects = append(first.profile.Effects, removed)
	for _, arguments := range []string{`{"names":["plan.txt"]}`, `{"names":["plan.txt; ./marlow-run-c7"]}`} {
		first.result.Outputs = append(first.result.Outputs, report.Output{Kind: report.OutputResult, Capability: idle, Arguments: arguments})
	}
	aided.how = launch{moment: report.LaunchStandIns, standIns: []string{"kubectl"}}
	var how launch
	attackAll(Plan{}, &how, []observation{first, aided})
	if string(how.given["a"]) != `{"x":1}` || string(how.given["b"]) != `{}` || !how.once || !how.attack.Seen[of].Programs {
		t.Errorf("%+v", how)
	}
	if string(how.given["refusing"]) != `{"command":"get pods"}` {
		t.Errorf("a tool that refused all calls is attacked from %s", how.given["refusing"])
	}
	if string(how.given["remove"]) != `{"names":["plan.txt"]}` {
		t.Errorf("a tool whose last call did nothing is attacked from %s", how.given["remove"])
	}
	if !slices.Contains(how.standIns, "kubectl") {
		t.Errorf("no stand-in for what is missing: %q", how.standIns)
	}
}

// TestWitness: an attempt has succeeded when its program was to be started.
func TestWitness(t *testing.T) {
	how := launch{attack: &attack.Plan{}}
	w := how.witness()
	w.event(trace.Event{Op: trace.OpExec, Path: "/srv/marlow-run-c12", Errno: "ENOENT"})
	w.event(trace.Event{Op: trace.OpRead, Path: "/srv/marlow-run-c13"})
	if !how.attack.Proven(12) || how.attack.Proven(13) || how.attack.Proven(1) {
		t.Error("an attempt succeeded that did not, or the other way round")
	}
	var none *witness
	none.event(trace.Event{Op: trace.OpExec})
}

// TestAttacksGoOn: where the server ends in an attempt, it is started again for what is left, with
// marks of their own; whoever ends it again and again is left out.
func TestAttacksGoOn(t *testing.T) {
	deadly := report.Capability{Kind: report.CapabilityTool, Name: "deadly"}
	var firsts, skipped []int
	got := tryGuards(t.Context(), launch{attack: &attack.Plan{}}, func(_ context.Context, how launch) observation {
		firsts, skipped = append(firsts, how.attack.FirstMark), append(skipped, how.attack.Taken[deadly])
		o := attacked()
		n := len(firsts)
		o.profile.Effects = []profile.Effect{{Fact: profile.Fact{Kind: profile.KindExec, Path: "x"}}}
		o.result.Attempts = []attack.Attempt{{Call: how.attack.FirstMark + 1}}
		o.result.Attacks.Taken = map[report.Capability]int{deadly: n}
		if n < 3 {
			o.result.Attacks.Ended = deadly
		}
		return o
	})
	if !slices.Equal(firsts, []int{0, launchMarks, 2 * launchMarks}) || !slices.Equal(skipped, []int{0, 1, math.MaxInt}) {
		t.Errorf("started with marks from %d, with %d steps taken", firsts, skipped)
	}
	if len(got.result.Attempts) != 3 || len(got.profile.Effects) != 3 {
		t.Errorf("%d attempts and %d effects of three launches", len(got.result.Attempts), len(got.profile.Effects))
	}
	endless := 0
	tryGuards(t.Context(), launch{attack: &attack.Plan{}}, func(context.Context, launch) observation {
		endless++
		o := attacked()
		o.result.Attacks.Ended, o.result.Attacks.Taken = deadly, map[report.Capability]int{}
		return o
	})
	if endless != maxAttackStarts {
		t.Errorf("started %d times", endless)
	}
}
