package probe

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

const (
	// maxPolluting bounds the tools that are tried, maxBehind the other tools that are called after each of them.
	maxPolluting = 4
	maxBehind    = 3
	// pollutionMarks is above the number of any call: the server may have stored the marks of earlier calls.
	pollutionMarks = 50_000
)

// pollute calls tools so that their prototypes may be polluted, and then without arguments, to see whether they find
// some. An error ends the session.
func (s *session) pollute(ctx context.Context, all []*attacked) error {
	if s.options.Attack.FirstMark != 0 {
		return nil
	}
	tried, marks := 0, 0
	names := s.argumentNames(all)
	next := func() inputs.Mark {
		marks++
		return inputs.Mark{Seed: s.options.Seed, Call: pollutionMarks + marks}
	}
	for _, each := range all {
		if tried >= maxPolluting || each.out || each.slow() || each.of.Kind != report.CapabilityTool {
			continue
		}
		calls := s.options.Attack.Pollutions(s.prey(each.target), names, next)
		if len(calls) == 0 {
			continue
		}
		tried++
		for place := range slices.Chunk(calls, attack.PollutionForms) {
			if err := s.polluteBy(ctx, each, place, s.askedBehind(all, each)); err != nil {
				return err
			}
		}
	}
	return nil
}

// polluteBy makes the calls for one place. A server whose objects have members that no code gave them may answer nothing
// any more, so it is started again for what else is tried: the error is errGone.
func (s *session) polluteBy(ctx context.Context, each *attacked, calls []attack.Pollution, asked []*attacked) error {
	demanded := false
	for _, c := range calls {
		shown, complete, err := s.shows(ctx, each, asked, c)
		if !c.Control && shown.By.Kind == "" && inherits(demanded, complete, shown.Answer) {
			shown.By = each.of
		}
		switch {
		case onlyFatal(err) != nil || c.Control && err != nil:
			return onlyFatal(err)
		case c.Control && shown.By.Kind != "":
			return nil // what is kept shows nothing
		case c.Control:
			demanded = !complete
			continue
		case shown.By.Kind != "":
			s.result.Polluted = append(s.result.Polluted, shown)
		case err == nil:
			continue
		}
		s.result.Attacks.Ended = each.of
		return errGone
	}
	return nil
}

// inherits reports whether a call without the argument shows that the target found it in the prototype: it was accepted although
// the argument was demanded, or, accepted before, it merges without end what holds itself now.
func inherits(demanded, complete bool, answer string) bool {
	if complete {
		return demanded
	}
	return !demanded && recursion.MatchString(answer)
}

// recursion matches the errors of V8, SpiderMonkey and JavaScriptCore about calls without an end.
var recursion = lazyregexp.New(`(?i)\bmaximum call stack size exceeded\b|\btoo much recursion\b`)

// shows makes one such call and those after it. By of the result is empty unless an answer shows the mark; complete
// reports whether the target accepted a call without the argument. The error is that of a call.
func (s *session) shows(ctx context.Context, each *attacked, asked []*attacked, c attack.Pollution) (shown attack.Polluted, complete bool, err error) {
	shown = attack.Polluted{Of: each.of, Field: c.Field, Form: c.Form}
	got, err := s.callWith(ctx, each, c.Arguments)
	if err == nil && attack.Strayed(got.result, c.Mark) {
		shown.By, shown.Answer, shown.Member = each.of, beginning(string(got.result), maxSample), true
		return shown, false, nil
	}
	var by *attacked
	if err == nil {
		by, shown.Answer, complete, err = s.polluted(ctx, each, asked, c)
	}
	if by != nil {
		shown.By = by.of
	}
	if err != nil && onlyFatal(err) == nil && !c.Control {
		if said, refused := s.refusesTools(ctx, each.of); refused {
			shown.By, shown.Answer, shown.Deaf = each.of, beginning(said, maxSample), true
		}
	}
	return shown, complete, err
}

// refusesTools reports whether a request for the list of tools, which the server has answered before, is refused, and why.
func (s *session) refusesTools(ctx context.Context, of report.Capability) (said string, refused bool) {
	_, err := s.request(ctx, report.PhaseCall, of, "tools/list", nil)
	return refusal(err)
}

// polluted makes the calls after such a call. by is the target whose answer has the mark, nil if none has. answer is
// the one with the mark, or else that of the target itself, and complete whether that accepted a call without the argument.
func (s *session) polluted(ctx context.Context, each *attacked, asked []*attacked, c attack.Pollution) (by *attacked, answer string, complete bool, err error) {
	for _, other := range append([]*attacked{each}, asked...) {
		arguments := json.RawMessage("{}")
		if other == each {
			arguments = c.Without
		}
		got, err := s.callWith(ctx, other, arguments)
		if err != nil {
			return nil, "", false, err
		}
		text := got.said()
		if other == each {
			answer, complete = beginning(text, maxSample), got.accepted
		}
		if slices.Contains(inputs.Marks([]byte(text)), c.Mark) && !strings.Contains(text, "proto") {
			return other, beginning(text, maxSample), complete, nil
		}
	}
	return nil, answer, complete, nil
}

// callWith calls a target with some arguments, while there is time.
func (s *session) callWith(ctx context.Context, each *attacked, arguments json.RawMessage) (reply, error) {
	if !s.hasTime() {
		return reply{}, nil
	}
	return s.callRaw(ctx, each.target, arguments)
}

// askedBehind returns other tools that have arguments and change little.
func (s *session) askedBehind(all []*attacked, than *attacked) (asked []*attacked) {
	for _, each := range all {
		if each != than && each.rank.effect <= creates && !each.task && !each.out && !each.slow() && len(argumentNames(each)) > 0 && len(asked) < maxBehind {
			asked = append(asked, each)
		}
	}
	return asked
}

// argumentNames returns the argument names of all targets.
func (s *session) argumentNames(all []*attacked) (names []string) {
	for _, each := range all {
		for _, name := range argumentNames(each) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func argumentNames(of *attacked) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(of.input, &schema) // what is no schema names none
	return slices.Sorted(maps.Keys(schema.Properties))
}
