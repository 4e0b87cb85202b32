package probe

import (
	"context"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The bounds of the attempts of one session, and of those against one target that is slow.
const (
	maxAttempts     = 4096
	maxSlowAttempts = 3
)

// attack makes the attempts against all that was called honestly, one for each in turn: where
// time is short, the likeliest were made. What takes things away comes last. The error is one
// that ends the session.
func (s *session) attack(ctx context.Context) error {
	if s.options.Attack == nil {
		return nil
	}
	type attacked struct {
		*target
		series *attack.Series
		made   int
	}
	var left []attacked
	for _, t := range ordered(s.targets) {
		if t.answered > 0 && !t.out && t.form != nil {
			left = append(left, attacked{target: t, series: s.options.Attack.Against(attack.Target{Of: t.of, Schema: t.input, Honest: t.again.Arguments})})
		}
	}
	for len(left) > 0 {
		var still []attacked
		for _, each := range left {
			a, more := each.series.Next(s.mark())
			if !more || !s.hasTime() || len(s.result.Attempts) >= maxAttempts {
				continue
			}
			if err := s.attempt(ctx, each.target, a); err != nil {
				return err
			}
			if each.made++; !each.out && (!each.slow() || each.made < maxSlowAttempts) {
				still = append(still, each)
			}
		}
		left = still
	}
	return nil
}

// attempt makes one call of an attack, and learns nothing from it.
func (s *session) attempt(ctx context.Context, t *target, a attack.Attempt) error {
	got, err := s.call(ctx, t, inputs.Case{Arguments: a.Arguments, Shape: inputs.ShapeInvalid})
	if err != nil {
		s.missed(t, err)
	}
	a.Answered, a.Accepted, a.Answer = err == nil, got.accepted, beginning(got.text, maxSample)
	if got.accepted {
		a.Answer = beginning(said(got.result), maxSample)
	}
	a.Arguments, a.Value, a.Honest = nil, beginning(a.Value, maxText), beginning(a.Honest, maxText)
	s.result.Attempts = append(s.result.Attempts, a)
	return onlyFatal(err)
}
