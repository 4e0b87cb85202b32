package rules

import (
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
)

func findPollution(in Input) []draft {
	p := in.Pollution
	if p.Lines == 0 {
		return nil
	}
	what := "a line to stdout that is no MCP message:"
	if p.Lines > 1 {
		what = fmt.Sprintf("%d lines to stdout that are no MCP messages, first", p.Lines)
	}
	return []draft{{
		severity: report.SeverityLow, phase: p.Phase, capability: p.Capability, object: "stdout",
		message:  sentence("The server wrote %s %s", what, quoted(p.Sample)),
		evidence: evidenceAt(in.End, "stdout: "+clean(p.Sample, 200)),
	}}
}

// said describes a breach: once with its sample, often with its count and the first sample.
type said struct {
	severity    report.Severity
	once, often string
}

// breaches are the kinds that each rule finds.
var breaches = map[breach.Kind]said{
	breach.CursorTwice: {report.SeverityMedium, "A list leads back to a page that it had shown: %s", "%d lists lead back to pages that they had shown, first %s"},
	breach.LongList:    {report.SeverityLow, "A list was not at its end where the audit gave up: %s", "%d lists were not at their ends where the audit gave up, first %s"},
	breach.Oversized:   {report.SeverityLow, "The server sent a message of more than 64 MiB, beginning %s", "The server sent %d messages of more than 64 MiB, the first beginning %s"},
	breach.Malformed:   {report.SeverityLow, "The server sent a message that is not well-formed: %s", "The server sent %d messages that are not well-formed, first %s"},
	breach.Nameless:    {report.SeverityLow, "The server lists something that has no name: %s", "The server lists %d things that have no name, first %s"},
	breach.Twice:       {report.SeverityMedium, "The server answered a request twice; the second answer was %s", "The server answered %d times what it had answered before, first with %s"},
	breach.Unasked:     {report.SeverityMedium, "The server sent an answer with an id that no request had: %s", "The server sent %d answers with ids that no request had, first %s"},
	breach.SameName:    {report.SeverityMedium, "The server lists two different tools of one name: %s", "The server lists %d tools under names that another tool has, first %s"},
	breach.SameTool:    {report.SeverityLow, "The server lists a tool twice: %s", "The server lists %d tools a second time, first %s"},
	breach.Flood:       {report.SeverityLow, "The server sent messages without an end in place of an answer: %s", "The server sent messages without an end in place of %d answers: first %s"},
	breach.Unread:      {report.SeverityLow, "The server sent requests and did not read the answers; one that could not be answered is %s", "The server sent requests and did not read the answers; %d could not be answered, first %s"},
}

// findBreaches finds the breaches of some kinds.
func findBreaches(kinds ...breach.Kind) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, b := range in.Breaches {
			if !slices.Contains(kinds, b.Kind) {
				continue
			}
			words := breaches[b.Kind]
			message := fmt.Sprintf(words.once, quoted(b.Sample))
			if b.Count > 1 {
				message = fmt.Sprintf(words.often, b.Count, quoted(b.Sample))
			}
			all = append(all, draft{
				severity: words.severity, phase: b.Phase, capability: b.Capability, object: string(b.Kind),
				message:  sentence("%s", message),
				evidence: evidenceAt(b.Time, string(b.Kind)+": "+clean(b.Sample, breach.MaxSample)),
			})
		}
		return all
	}
}
