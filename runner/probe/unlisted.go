package probe

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxKnown bounds the unlisted tools that are called with arguments.
const maxKnown = 16

// callUnlisted calls tools by names that no list has: those of Plan.Unlisted, and those in the server's own
// texts. A server that accepts a made-up name accepts any, which shows nothing. An error ends the session.
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
			s.result.Unlisted = append(s.result.Unlisted, attack.Taken{Name: name, Answer: beginning(got.said(), maxSample)})
		}
	}
	return nil
}

// unlisted returns the names to call, those in a refusal first.
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

// callNamed calls a tool that is not a target. Any error ends the series, because waiting for an answer
// takes the time of the attempts.
func (s *session) callNamed(ctx context.Context, name string, arguments json.RawMessage) (reply, error) {
	return s.callRaw(ctx, &target{of: report.Capability{Kind: report.CapabilityTool, Name: name}}, arguments)
}
