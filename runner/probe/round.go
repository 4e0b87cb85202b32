package probe

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// exercise calls everything in Options.Rounds rounds. An error ends the session.
func (s *session) exercise(ctx context.Context) error {
	if err := s.favour(ctx); err != nil {
		return err
	}
	for n := range s.options.Rounds {
		if n == 1 {
			if err := s.allHours(ctx); err != nil {
				return err
			}
		}
		if err := s.round(ctx, n+1, s.targets); err != nil {
			return err
		}
	}
	return s.repeatRefusals(ctx)
}

// round calls everything once, and then again while there are new arguments,
// because one call often returns values for another. Destructive tools come
// last.
func (s *session) round(ctx context.Context, n int, targets []*target) error {
	all := ordered(targets)
	for _, t := range all {
		t.turns = 0
	}
	for _, stage := range stages {
		part := slices.DeleteFunc(slices.Clone(all), func(t *target) bool { return t.rank.effect < stage[0] || t.rank.effect > stage[1] })
		for more := true; more; {
			var err error
			if more, err = s.sweep(ctx, n, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep gives each target one turn, and reports whether any took it.
func (s *session) sweep(ctx context.Context, n int, targets []*target) (more bool, err error) {
	for _, t := range targets {
		c, wants := s.turn(t, n)
		if !wants {
			continue
		}
		more = true
		if err := s.visit(ctx, t, c); err != nil {
			return false, err
		}
		if err := s.heed(ctx); err != nil {
			return false, err
		}
	}
	return more, nil
}

// turn returns the next call of a target in a round; false when it has had
// enough. Without new arguments, the first call of a round repeats an earlier one.
func (s *session) turn(t *target, round int) (inputs.Case, bool) {
	first := t.turns == 0
	if s.enough(t, round, first) {
		return inputs.Case{}, false
	}
	if !s.affords(t) {
		t.skipped = report.SkippedBudget
		return inputs.Case{}, false
	}
	if t.form != nil {
		if c, fresh := s.fresh(t); fresh {
			return t.paced(c), true
		}
		t.sized = s.pool.Size()
	}
	if !first && !s.insists(t) || t.form != nil && t.sent == 0 {
		return inputs.Case{}, false
	}
	return t.paced(s.repeated(t)), true
}

// enough reports whether a target gets no other call in a round.
func (s *session) enough(t *target, round int, first bool) bool {
	if knownSlow := s.options.Prompt != nil && !s.options.Prompt[t.of]; knownSlow && round > slowRounds {
		return true
	}
	if first {
		return t.out || t.sent >= s.options.MaxCalls
	}
	share := s.options.MaxCalls * min(round, s.options.Rounds) / s.options.Rounds // each round has its part of them
	return t.out || t.sent >= share || t.slow() || t.sized == s.pool.Size() && !s.insists(t)
}

// mostInsisted bounds the calls in a round of a tool that has refused every call.
const mostInsisted = 4

// insists reports whether a tool that has refused every call, or answered with excuses, is called once more with the same arguments: the sinkhole
// learns from each refusal, and may answer better.
func (s *session) insists(t *target) bool {
	return s.options.Inputs.Sunk && t.of.Kind == report.CapabilityTool && !t.served() && t.answered > 0 && t.turns < mostInsisted
}

// accepted counts an accepted call, and reports whether it only reports a failure: such a result shows nothing of what a
// tool does. A resource may be a text about a failure.
func (s *session) accepted(t *target, excuse string) (excused bool) {
	t.accepted++
	if excuse != "" && t.of.Kind == report.CapabilityTool {
		t.excused++
		return true
	}
	s.tally.Done++
	return false
}

// served reports whether a call was accepted with a result that is not the report of a failure.
func (t *target) served() bool { return t.accepted > t.excused }

// fresh returns the next new case of a target; false for none.
func (s *session) fresh(t *target) (c inputs.Case, fresh bool) {
	for {
		c, fresh = t.form.Next(s.pool, s.mark())
		if !fresh || c.Shape.Proper() || !s.options.Proper {
			return c, fresh
		}
	}
}

// paced shortens the durations in a case, once a call was slow.
func (t *target) paced(c inputs.Case) inputs.Case {
	if t.slow() && t.schema != nil {
		c.Arguments = hurried(t.schema, c.Arguments)
	}
	return c
}

// mark returns the mark of the next request: its number.
func (s *session) mark() inputs.Mark {
	return inputs.Mark{Seed: s.options.Seed, Call: s.lastID + 1, Plain: s.options.Plain}
}

// repeated returns the call to repeat, with the marks of the next request in place of
// its own.
func (s *session) repeated(t *target) inputs.Case {
	was, is := inputs.Mark{Seed: s.options.Seed, Call: t.marked}, s.mark()
	text := string(t.again.Arguments)
	for old, fresh := range map[string]string{was.Host(): is.Host(), was.ID(): is.ID(), was.Name(): is.Name(), was.UUID(): is.UUID()} {
		whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(old) + `\b`) // "marlow-c1" is no part of "marlow-c12"
		text = whole.ReplaceAllLiteralString(text, fresh)
	}
	c := t.again
	c.Arguments = json.RawMessage(text)
	return c
}

// visit makes one call and learns from it.
func (s *session) visit(ctx context.Context, t *target, c inputs.Case) error {
	if t.sent == 0 {
		s.waiting--
	}
	t.turns++
	t.sent++
	s.tally.Total++
	number, began := s.lastID+1, time.Now()
	if t.furthers(c) {
		t.again, t.marked = c, number
	}
	s.used.add(t.of, c.Arguments, s.options.Chosen[t.of.Name])
	got, err := s.call(ctx, t, c)
	took := time.Since(began)
	t.spent += took
	t.slowest = max(t.slowest, took)
	if err != nil {
		s.missed(t, err)
		s.result.EndedOdd = errors.Is(err, errGone) && !c.Shape.Proper()
		return onlyFatal(err)
	}
	t.answered++
	excuse := got.excuse()
	if t.form != nil {
		t.form.Answered(c, got.accepted && excuse == "")
	}
	if !got.accepted {
		s.outputs.answered(report.OutputError, got.text)
		s.refused(t, c, got.text, got.blames())
		return s.abide(ctx, t, got.text)
	}
	excused := s.accepted(t, excuse)
	t.keep(c, number, len(said(got.result)), excused)
	s.outputs.answered(report.OutputResult, said(got.result))
	if excuse != "" {
		s.refused(t, c, excuse, excuse)
		return s.abide(ctx, t, excuse)
	}
	if !c.Shape.Feeds() {
		return nil // its result is no source of values
	}
	s.pool.Result(t.source(), got.result)
	if c.Shape.Proper() {
		s.pool.Taken(t.source(), c.Arguments)
	}
	if t.idempotent && c.Shape.Proper() && t.sent < s.options.MaxCalls && !t.slow() {
		t.idempotent, t.twice = false, true
		defer func() { t.twice = false }()
		return s.visit(ctx, t, c)
	}
	return nil
}

// furthers reports whether a call of a target that has accepted none is the one to repeat: one that is refused for its shape,
// or lacks what another has, reaches less of the server.
func (t *target) furthers(c inputs.Case) bool {
	was := t.again
	return t.accepted == 0 && (was.Arguments == nil || !was.Shape.Proper() || c.Shape.Proper() && c.Filled() >= was.Filled())
}

// refused learns from a refusal, and from the part of it that may be about the arguments.
func (s *session) refused(t *target, c inputs.Case, text, blames string) {
	s.pool.Error(t.source(), text, c)
	t.deny(c)
	if t.form != nil {
		t.form.Refused(c, blames)
	}
}

// keep chooses an accepted call for repetition, unless an earlier one had more arguments, or an answer more than
// twice as long: an empty list shows less, and so does "no match". One with an excuse shows nothing: any other replaces it.
// shown is the length of the answer.
func (t *target) keep(c inputs.Case, number, shown int, excused bool) {
	filled, before := c.Filled(), t.again.Filled()
	if excused && t.served() {
		return
	}
	first := t.accepted == 1 || !excused && t.accepted-t.excused == 1
	if c.Shape.Proper() && (first || !t.again.Shape.Proper() || filled > before || filled == before && 2*shown >= t.shown) {
		t.again, t.marked, t.shown = c, number, shown
	}
}

// mostTimeouts returns how many calls of a target may time out. Attempts may succeed nevertheless, as the trace shows.
func (s *session) mostTimeouts() int {
	if s.options.Attack != nil {
		return maxSlowTimeouts
	}
	return 1
}

// missed records that a call was not answered. A target that timed out is tried once more.
func (s *session) missed(t *target, err error) {
	switch {
	case errors.Is(err, errTimeout):
		s.timeouts++
		t.timeouts++
		t.skipped, t.out = report.SkippedTimeout, t.timeouts > s.mostTimeouts()
		if s.options.Prompt[t.of] && t.limit >= promptPatience {
			s.result.Stalled = append(s.result.Stalled, t.of)
		}
	case errors.Is(err, errTooLong):
		t.skipped, t.out = report.SkippedTooLong, true
	default:
		t.skipped, t.out = report.SkippedUnanswered, true
		if errors.Is(err, errGone) && t.of.Kind == report.CapabilityTool {
			s.result.EndedIn = t.of
		}
	}
}
