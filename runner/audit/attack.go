package audit

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// mostAttack bounds the launch in which guards are tried.
	mostAttack = 40 * time.Second
	// attackSettle is how long the server has to be quiet after each call of it.
	attackSettle = 5 * time.Millisecond
	// maxSeenFiles is how many paths of one capability are looked for values in.
	maxSeenFiles = 256
)

var (
	errAttackOff = errors.New("probe.attack is Off")
	errUncalled  = errors.New("probe.calls allows no calls")
)

// attackAll makes the launch in which guards are tried: each tool is called once with
// arguments that it has accepted, and then with one value changed.
func attackAll(plan Plan, how *launch, runs []observation) {
	standIn(plan, how, runs) // what is missing would end many a call before its guard
	how.calls, how.given = 0, map[string]json.RawMessage{}
	for _, o := range slices.Backward(runs) { // the exercise counts most
		maps.Copy(how.given, o.result.Accepted)
	}
	how.attack = &attack.Plan{Seen: seenIn(runs)}
}

// unattackable enters why guards are not tried.
func unattackable(how launch, p Plan, _ []observation) launch {
	switch {
	case p.Probe.Attack == plan.AttackOff:
		how.impossible = errAttackOff
	case p.Probe.Calls == report.CallsNever:
		how.impossible = errUncalled
	}
	return how
}

// seenIn is what each capability has done in some launches.
func seenIn(runs []observation) map[report.Capability]attack.Seen {
	all := map[report.Capability]attack.Seen{}
	for _, o := range runs {
		for _, e := range o.profile.Effects {
			seen := all[e.Capability]
			switch e.Kind {
			case profile.KindExec:
				seen.Programs = true
			case profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete, profile.KindAttempt:
				if len(seen.Files) < maxSeenFiles {
					seen.Files = append(seen.Files, e.Path)
				}
			}
			all[e.Capability] = seen
		}
	}
	return all
}

// apart takes the launch in which guards were tried out of all: what a server does there
// is our doing, and says nothing of it but what its rules read.
func apart(all []observation) (runs []observation, attacked observation) {
	i := slices.IndexFunc(all, func(o observation) bool { return o.how.moment == report.LaunchAttack })
	if i < 0 {
		return all, observation{}
	}
	return slices.Delete(slices.Clone(all), i, i+1), all[i]
}

// witness sees in the trace, as it comes, which attempts have succeeded.
type witness struct {
	mu     sync.Mutex
	proven map[int]bool
}

// witness makes one for a launch in which guards are tried; nil for any other.
func (how launch) witness() *witness {
	if how.attack == nil {
		return nil
	}
	w := &witness{proven: map[int]bool{}}
	how.attack.Proven = w.saw
	return w
}

func (w *witness) event(e trace.Event) {
	if w == nil || e.Op != trace.OpExec {
		return
	}
	if call, ok := inputs.InjectedBy(e.Path); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.proven[call] = true
	}
}

func (w *witness) saw(call int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.proven[call]
}
