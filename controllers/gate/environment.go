package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Environment has a container's settings besides its command.
type Environment struct {
	// Variables has those with literal values, resolved as a kubelet does. Values from
	// elsewhere are not compared, as no audit has them.
	Variables map[string]string
	// Unclear is set if a value refers to one that the object does not contain.
	Unclear    bool
	WorkingDir string
	// Unread are the names of the other variables, sorted: those with values from elsewhere,
	// and those that no audit takes. From is set if there may be more whose names are unknown.
	Unread []string
	From   bool
}

func sortedNames(variables map[string]string) []string { return slices.Sorted(maps.Keys(variables)) }

// fingerprint is equal for equal environments; nil for one that matches no audit.
func (e Environment) fingerprint(key []byte) *fingerprint {
	if e.Unclear || len(e.Variables) == 0 && e.WorkingDir == "" {
		return nil
	}
	f := &fingerprint{workingDir: e.WorkingDir}
	if len(e.Variables) > 0 {
		if key == nil {
			return nil
		}
		f.digest = v1alpha1.Digest(environ.Digest(key, e.Variables))
	}
	return f
}

// fingerprint identifies an environment.
type fingerprint struct {
	digest     v1alpha1.Digest
	workingDir string
}

// fingerprintOf returns the fingerprint of an audit's environment. One with names but no digest
// matches none.
func fingerprintOf(of *report.Environment) (f fingerprint, comparable bool) {
	return fingerprint{v1alpha1.Digest(of.Digest), of.WorkingDir}, of.Digest != "" || len(of.Names) == 0 && of.WorkingDir != ""
}

// compareEnvironments makes decisions independent of the order of containers.
func compareEnvironments(a, b Environment) int {
	pairs := func(e Environment) []string {
		all := []string{e.WorkingDir, fmt.Sprint(e.From)}
		for _, name := range sortedNames(e.Variables) {
			all = append(all, name, e.Variables[name])
		}
		return append(append(all, ""), e.Unread...)
	}
	return slices.Compare(pairs(a), pairs(b))
}

// wanted are the answers for a container: for any environment, and for its own.
type wanted struct {
	any, own *answer
	with     *evidence // for its own environment; nil if that matches no audit
}

// wantIn is want for a container with an environment.
func (e *evidence) wantIn(s *start) wanted {
	w := wanted{any: e.want(s)}
	if s.environment == nil {
		return w
	}
	if e.environments == nil {
		e.environments = map[fingerprint]*evidence{}
	}
	if w.with = e.environments[*s.environment]; w.with == nil {
		w.with = newEvidence()
		e.environments[*s.environment] = w.with
	}
	w.own = w.with.want(s)
	return w
}

// addIn adds a verdict of an audit that set an environment: it only applies to containers with
// the same.
func (e *evidence) addIn(h held, where place) {
	if h.over(e.other) {
		e.other = h
	}
	e.otherAdmitting = e.otherAdmitting || h.action != v1alpha1.ActionDeny
	if of, comparable := fingerprintOf(h.verdict.Environment); comparable && e.environments[of] != nil {
		e.environments[of].addAny(h, where)
	}
}

// concludeIn is conclude for a container with an environment.
func (e *evidence) concludeIn(p *Policy, w wanted) held {
	known, a := e, w.any
	if w.with != nil && w.with.verdicts > 0 {
		known, a = joined(e, w.with), joinedAnswer(w.any, w.own)
	}
	found := known.conclude(p, a)
	if found.reason == v1alpha1.GateNotAudited && e.other.verdict != nil {
		found = held{standing: standing{v1alpha1.GateOtherEnvironment, p.Gate.OnOtherCommand}, verdict: e.other.verdict}
		if !e.otherAdmitting {
			found.action = worseAction(found.action, p.Gate.OnMissing)
		}
	}
	return found
}

// joined merges what conclude reads of both.
func joined(a, b *evidence) *evidence {
	both := &evidence{against: a.against, any: a.any, verdicts: a.verdicts + b.verdicts, admitting: a.admitting + b.admitting}
	if b.against.verdict != nil && b.against.over(both.against) {
		both.against = b.against
	}
	if b.any.over(both.any) {
		both.any = b.any
	}
	return both
}

func joinedAnswer(a, b *answer) *answer {
	if a == nil || b == nil {
		return nil // of a container that cannot be compared
	}
	both := &answer{best: a.best, elsewhere: a.elsewhere, verdicts: a.verdicts + b.verdicts, admitting: a.admitting + b.admitting}
	if b.best.verdict != nil && b.best.over(both.best) {
		both.best = b.best
	}
	if b.elsewhere.verdict != nil && b.elsewhere.over(both.elsewhere) {
		both.elsewhere = b.elsewhere
	}
	return both
}
