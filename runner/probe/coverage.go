package probe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxAccepted bounds arguments that are kept as accepted, in bytes.
const maxAccepted = 64 << 10

// account fills in how far each capability was exercised, and what was left out.
func (s *session) account() {
	c := &s.result.Coverage
	c.Calls, s.result.Accepted, s.result.Prompt = s.tally, map[string]json.RawMessage{}, map[report.Capability]bool{}
	s.result.Refused = map[string]json.RawMessage{}
	for _, t := range s.targets {
		s.result.Prompt[t.of] = t.accepted > 0 && t.answered == t.sent && !t.slow()
		row := report.CapabilityCoverage{
			Kind: t.of.Kind, Name: t.of.Name, Skipped: t.skipped,
			Calls: report.Share{Total: t.sent, Done: t.accepted - t.excused},
		}
		if t.form != nil {
			row.Branches.Total, row.Branches.Done = t.form.Branches()
		}
		s.result.Exercise = append(s.result.Exercise, row)
		if t.of.Kind == report.CapabilityTool {
			if t.denied.Arguments != nil {
				s.result.Refused[t.of.Name] = t.denied.Arguments
			}
			if size := len(t.again.Arguments); t.accepted > 0 && 0 < size && size <= maxAccepted {
				s.result.Accepted[t.of.Name] = t.again.Arguments
			}
			c.Branches.Total += row.Branches.Total
			c.Branches.Done += row.Branches.Done
		}
		if !t.unlisted {
			count(exercised(c, t.of.Kind), t.answered > 0, t.served())
		}
	}
	s.result.Outputs, s.result.Unread, s.result.Arguments = s.outputs.all(), s.outputs.left(), s.used.all()
	if !s.options.ListOnly {
		s.reportUncalled()
	}
}

// exercised returns the counters of a kind.
func exercised(c *report.Coverage, kind report.CapabilityKind) *report.Exercised {
	switch kind {
	case report.CapabilityTool:
		return &c.Tools
	case report.CapabilityResource:
		return &c.Resources
	case report.CapabilityResourceTemplate:
		return &c.ResourceTemplates
	default:
		return &c.Prompts
	}
}

// count adds one listed item.
func count(in *report.Exercised, called, accepted bool) {
	in.Listed++
	if called {
		in.Called++
	}
	if accepted {
		in.Accepted++
	}
}

const maxNamed = 3 // in a message

// reportUncalled marks the session incomplete if capabilities were never called, for want of time or by
// request, because what was not exercised was not audited. The same holds for a server that left calls
// unanswered, and none of whose tools accepted one.
func (s *session) reportUncalled() {
	for _, why := range []struct {
		reason  report.Reason
		skipped []string
		message string
	}{
		{report.ReasonTimeout, []string{report.SkippedBudget}, "the time was up before everything was called once; never were"},
		{report.ReasonNotExercised, []string{report.SkippedByCalls, report.SkippedByName}, "left out because that was asked for"},
		{report.ReasonNotExercised, []string{report.SkippedTask}, "to be called only as a task, in a way that the audit does not know"},
	} {
		if names := s.uncalled(why.skipped); len(names) > 0 {
			s.fail(why.reason, "%s, %d of %d: %s", why.message, len(names), len(s.targets), named(names))
		}
	}
	if s.result.Coverage.Measured().Accepted == 0 {
		s.failed(s.silent)
	}
}

// uncalled returns the targets that were never called for one of some reasons.
func (s *session) uncalled(reasons []string) (all []string) {
	for _, t := range s.targets {
		if t.sent == 0 && slices.Contains(reasons, t.skipped) {
			all = append(all, t.of.String())
		}
	}
	return all
}

// named joins the first of some names, and says how many more there are.
func named(all []string) string {
	text := strings.Join(all[:min(len(all), maxNamed)], ", ")
	if more := len(all) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
