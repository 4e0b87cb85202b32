package probe

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The bounds on the attempts of one session, and on those against a slow target, which gets at least maxSlowAttempts
// and at least maxSlowTime.
const (
	maxAttempts                  = 4096
	maxSlowAttempts, maxSlowTime = 3, 8 * time.Second
	maxSlowTimeouts              = 4       // attempts on a target without an answer
	leastTried                   = 8       // steps with which the guards of a target count as tried
	maxBases                     = 3       // directories of resources
	maxFollowers                 = 2       // targets that are called after an accepted attempt
	maxFollowed                  = 384     // such calls in all
	maxCopied                    = 8 << 10 // bytes of a description, a schema or a value
)

// Attacks say how far the attempts on the server's guards came.
type Attacks struct {
	// Taken counts the steps of each series.
	Taken map[report.Capability]int
	// Untried are those with hardly any attempt, Ended is the one in whose attempt
	// the server ended; the zero value for none.
	Untried []report.Capability
	Ended   report.Capability
}

// attacked is a target, and what is still to be tried on it.
type attacked struct {
	*target
	series *attack.Series
	// users are the targets that use what this one stores.
	users []*target
	made  int
	took  time.Duration
}

// tiresome reports whether a slow target has had its attempts. Those that it refuses at once take no time.
func (a *attacked) tiresome() bool {
	return a.slow() && a.made >= maxSlowAttempts && a.took >= maxSlowTime
}

// attack makes the attempts against all that was called honestly, one for each in turn: where
// time is short, the likeliest were made. What takes things away comes last. The error is one
// that ends the session.
func (s *session) attack(ctx context.Context) error {
	if s.options.Attack == nil {
		return nil
	}
	all := s.attackable()
	defer func() { s.reckon(all) }()
	if err := s.callUnlisted(ctx); err != nil {
		return err
	}
	if err := s.askForeign(ctx); err != nil {
		return err
	}
	s.askPages(ctx)
	if err := s.pollute(ctx, all); err != nil {
		return err
	}
	if err := s.attempts(ctx, all); err != nil {
		return err
	}
	s.askSessions(ctx)
	s.sendMalformed(ctx)
	return nil
}

// attempts makes the attempts on some targets. Slow ones get the time that others leave.
func (s *session) attempts(ctx context.Context, all []*attacked) error {
	behind := followers(all)
	var slow []*attacked
	for left := all; len(left) > 0; {
		var still []*attacked
		for _, each := range left {
			if !s.hasTime() || len(s.result.Attempts) >= maxAttempts {
				return nil
			}
			a, more := each.series.Next(s.mark())
			if !more {
				continue
			}
			began := time.Now()
			if err := s.attempt(ctx, each.target, a); err != nil {
				return err
			}
			each.took += time.Since(began)
			if err := s.follow(ctx, each, behind, a); err != nil {
				return err
			}
			switch each.made++; {
			case each.out:
			case each.tiresome():
				slow = append(slow, each)
			default:
				still = append(still, each)
			}
		}
		if left = still; len(left) == 0 && len(slow) > 0 {
			left, slow = slow, nil
		}
	}
	return nil
}

// followers are targets that have no place for an attempt and change little: what one tool has kept, such
// a one may use.
func followers(all []*attacked) (behind []*attacked) {
	for _, each := range all {
		if each.series.Left() == 0 && each.rank.effect <= changes && !each.task && len(behind) < maxFollowers {
			behind = append(behind, each)
		}
	}
	return behind
}

// follow calls what uses the values that an accepted attempt may have stored. After a command it calls some others, too,
// of which that is not known.
func (s *session) follow(ctx context.Context, each *attacked, behind []*attacked, a attack.Attempt) error {
	if last := s.result.Attempts[len(s.result.Attempts)-1]; !last.Accepted {
		return nil
	}
	users := each.users
	if a.Family == attack.Command && len(users) == 0 {
		for _, other := range behind {
			users = append(users, other.target)
		}
	}
	for _, user := range users {
		if user.out || user.slow() || s.followed >= maxFollowed || !s.hasTime() {
			continue
		}
		s.followed++
		call := user.again
		linked, ok := attack.Shares(call.Arguments, a.Arguments, a.Field)
		if !ok && a.Family == attack.Path {
			linked, ok = s.options.Attack.Follows(s.prey(user), s.prey(each.target), a.Field)
		}
		if ok {
			call = inputs.Case{Arguments: linked, Shape: inputs.ShapeInvalid}
		}
		if _, err := s.call(ctx, user, call); err != nil {
			s.missed(user, err)
			if onlyFatal(err) != nil {
				return err
			}
		}
	}
	return nil
}

// attackable are the targets that have answered an honest call, or were too slow to. It enters the others.
func (s *session) attackable() (all []*attacked) {
	targets := ordered(s.targets)
	bases, preys := map[string]bool{}, map[*target]attack.Target{}
	for _, t := range targets {
		preys[t] = s.prey(t)
	}
	for _, t := range targets {
		if t.excluded() || t.form == nil && !t.first(bases) {
			continue
		}
		prey, users := preys[t], s.users(t, targets, preys)
		for _, user := range users {
			prey.Users = append(prey.Users, user.of)
		}
		switch series := s.options.Attack.Against(prey); {
		case t.answered+t.timeouts > 0 && !t.out:
			all = append(all, &attacked{target: t, series: series, users: users})
		case series.Left() > 0:
			s.result.Attacks.Untried = append(s.result.Attacks.Untried, t.of)
		}
	}
	return all
}

// first reports whether a resource is the first one of its directory: the same code reads the others.
func (t *target) first(bases map[string]bool) bool {
	if t.of.Kind != report.CapabilityResource || t.answered == 0 {
		return false
	}
	base := t.of.Name[:strings.LastIndexByte(t.of.Name, '/')+1]
	known := bases[base] || len(bases) >= maxBases
	bases[base] = true
	return !known
}

// users are the tools that change little and were seen to use what a target stores, or take the id under which it
// is stored.
func (s *session) users(t *target, all []*target, preys map[*target]attack.Target) (users []*target) {
	if t.of.Kind != report.CapabilityTool {
		return nil
	}
	for _, other := range all {
		if other != t && other.of.Kind == report.CapabilityTool && other.form != nil && !other.excluded() && other.answered > 0 && !other.out && !other.task &&
			len(users) < maxFollowers && (other.rank.effect <= creates && s.options.Attack.Uses(preys[other], preys[t]) || s.stores(t, other, preys)) {
			users = append(users, other)
		}
	}
	return users
}

// stores reports whether a target may store something that another one uses under the same id, or the same name of a file.
func (s *session) stores(t, other *target, preys map[*target]attack.Target) bool {
	if t.rank.effect <= reads || t.rank.effect > changes || other.rank.effect > changes {
		return false
	}
	_, shares := attack.Shares(other.again.Arguments, t.again.Arguments, "")
	if !shares {
		_, shares = s.options.Attack.Follows(preys[other], preys[t], "")
	}
	return shares
}

// excluded reports whether a target is not to be called at all: what nobody calls here has no guards
// that somebody would think were tried.
func (t *target) excluded() bool {
	return slices.Contains([]string{report.SkippedByCalls, report.SkippedByName, report.SkippedTask}, t.skipped)
}

// prey is a target as the attack knows it.
func (s *session) prey(t *target) attack.Target {
	known := attack.Target{Of: t.of, Schema: t.input, Honest: t.again.Arguments}
	if known.Honest == nil { // it has not answered
		known.Honest = s.options.Given[t.of.Name]
	}
	if t.of.Kind == report.CapabilityPrompt {
		properties := map[string]any{}
		for _, name := range t.parameters {
			properties[name] = map[string]any{"type": "string"}
		}
		known.Schema, _ = json.Marshal(map[string]any{"properties": properties}) // of texts: no error
	}
	known.Said = beginning(t.said, maxCopied) + "\n" + beginning(string(known.Schema), maxCopied)
	return known
}

// reckon enters how far the attempts came.
func (s *session) reckon(all []*attacked) {
	s.result.Attacks.Taken = map[report.Capability]int{}
	for _, each := range all {
		s.result.Attacks.Taken[each.of] = each.series.Taken()
		if each.series.Left() > 0 && each.series.Taken() < leastTried {
			s.result.Attacks.Untried = append(s.result.Attacks.Untried, each.of)
		}
	}
}

// callRaw calls a target with arguments that its form neither made nor learns from.
func (s *session) callRaw(ctx context.Context, t *target, arguments json.RawMessage) (reply, error) {
	got, err := s.call(ctx, t, inputs.Case{Arguments: arguments, Shape: inputs.ShapeInvalid})
	if err != nil {
		s.missed(t, err)
	}
	if errors.Is(err, errGone) {
		s.result.Attacks.Ended = t.of
	}
	return got, err
}

// attempt makes one call of an attack and enters how it was answered.
func (s *session) attempt(ctx context.Context, t *target, a attack.Attempt) error {
	a.Sent = time.Now()
	got, err := s.callRaw(ctx, t, a.Arguments)
	a.Answered, a.Accepted, a.Answer = err == nil, got.accepted, beginning(got.said(), maxSample)
	a.Arguments, a.Value, a.Honest = nil, beginning(a.Value, maxCopied), beginning(a.Honest, maxCopied)
	s.result.Attempts = append(s.result.Attempts, a)
	return onlyFatal(err)
}
