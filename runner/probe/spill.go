package probe

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// maxSpilling is how many tools are given an object that may spill, maxBehind how many others are
// asked behind each.
const (
	maxSpilling = 4
	maxBehind   = 3
)

// spill looks for arguments that turn up in calls which have none: behind a call that may have given them to all
// objects of the program. The error is one that ends the session.
func (s *session) spill(ctx context.Context, all []*attacked) error {
	if s.options.Attack.FirstMark != 0 {
		return nil
	}
	tried := 0
	names := s.argumentNames(all)
	for _, each := range all {
		if tried >= maxSpilling || each.out || each.slow() || each.of.Kind != report.CapabilityTool {
			continue
		}
		calls := s.options.Attack.Spills(s.prey(each.target), names, s.mark)
		if len(calls) < attack.SpillForms {
			continue
		}
		tried++
		asked := s.askedBehind(all, each)
		for _, c := range calls {
			by, answer, err := s.spills(ctx, each, asked, c)
			if err != nil {
				return onlyFatal(err)
			}
			if by == nil {
				continue
			}
			if !c.Control {
				s.result.Spilt = append(s.result.Spilt, attack.Spilt{Of: each.of, Field: c.Field, Form: c.Form, By: by.of, Answer: answer})
			}
			break // what is kept shows nothing, and once is enough
		}
	}
	return nil
}

// spills makes one such call and those behind it, and returns whose answer has the mark; nil for none.
func (s *session) spills(ctx context.Context, each *attacked, asked []*attacked, c attack.Spill) (by *attacked, answer string, err error) {
	if _, err = s.callWith(ctx, each, c.Arguments); err != nil {
		return nil, "", err
	}
	for _, other := range append([]*attacked{each}, asked...) {
		arguments := json.RawMessage("{}")
		if other == each {
			arguments = c.Without
		}
		got, err := s.callWith(ctx, other, arguments)
		if err != nil {
			return nil, "", err
		}
		text := got.text
		if got.accepted {
			text = said(got.result)
		}
		if strings.Contains(text, c.Mark) && !strings.Contains(text, "proto") {
			return other, beginning(text, maxSample), nil
		}
	}
	return nil, "", nil
}

// callWith calls a target with some arguments.
func (s *session) callWith(ctx context.Context, each *attacked, arguments json.RawMessage) (reply, error) {
	if !s.hasTime() {
		return reply{}, nil
	}
	got, err := s.call(ctx, each.target, inputs.Case{Arguments: arguments, Shape: inputs.ShapeInvalid})
	if err != nil {
		s.missed(each.target, err)
	}
	if errors.Is(err, errGone) {
		s.result.Attacks.Ended = each.of
	}
	return got, err
}

// askedBehind are other tools with arguments that change little.
func (s *session) askedBehind(all []*attacked, than *attacked) (asked []*attacked) {
	for _, each := range all {
		if each != than && each.rank.effect <= creates && !each.task && !each.out && !each.slow() && len(argumentNames(each)) > 0 && len(asked) < maxBehind {
			asked = append(asked, each)
		}
	}
	return asked
}

// argumentNames are the names of the arguments of all targets.
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
