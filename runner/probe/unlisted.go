package probe

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxKnown is how many tools that no list has are called with arguments.
const maxKnown = 16

// callUnlisted calls tools by names that no list has: those of Plan.Unlisted, and those in the server's own
// texts. Whoever accepts a name that no tool has accepts any, and shows nothing. The error is one that ends the session.
func (s *session) callUnlisted(ctx context.Context) error {
	all := s.options.Calls == report.CallsAll || s.options.Calls == ""
	if len(s.options.Attack.Unlisted) == 0 || !s.result.Listed || len(s.tools) == 0 || !all {
		return nil
	}
	return onlyFatal(s.tryUnlisted(ctx))
}

func (s *session) tryUnlisted(ctx context.Context) error {
	nobody := s.mark().Name()
	none := json.RawMessage("{}")
	got, err := s.callNamed(ctx, nobody, none)
	if err != nil || got.accepted {
		return err
	}
	refusal, known := attack.RefusalOf(nobody, got.text), 0
	for _, name := range s.unlisted(got.text) {
		if !s.hasTime() {
			return nil
		}
		if got, err = s.callNamed(ctx, name, none); err != nil {
			return err
		}
		if !got.accepted && attack.RefusalOf(name, got.text) != refusal && known < maxKnown {
			known++ // it may want arguments
			if got, err = s.callNamed(ctx, name, attack.Usual(s.mark())); err != nil {
				return err
			}
		}
		if got.accepted {
			s.result.Unlisted = append(s.result.Unlisted, attack.Taken{Name: name, Answer: beginning(said(got.result), maxSample)})
		}
	}
	return nil
}

// unlisted returns the names to call. Those that stand in a refusal come first.
func (s *session) unlisted(refusal string) (names []string) {
	texts := refusal + "\n" + manifest.Text(s.result.Manifest.Instructions)
	for _, item := range manifest.Items(report.CapabilityTool, s.result.Manifest.Tools) {
		texts += "\n" + beginning(item.Description, maxCopied)
	}
	for _, name := range slices.Concat(attack.NamedIn(texts), s.options.Attack.Unlisted) {
		if !s.tools[name] && !s.skip[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// callNamed calls a tool that is no target. Any error ends the series: who leaves such a call without an
// answer takes the time of the attempts.
func (s *session) callNamed(ctx context.Context, name string, arguments json.RawMessage) (reply, error) {
	t := &target{of: report.Capability{Kind: report.CapabilityTool, Name: name}}
	got, err := s.call(ctx, t, inputs.Case{Arguments: arguments, Shape: inputs.ShapeInvalid})
	if err != nil {
		s.missed(t, err)
	}
	if errors.Is(err, errGone) {
		s.result.Attacks.Ended = t.of
	}
	return got, err
}
