package rules

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// outputRules are about what the server says in answer.
var outputRules = []family{
	{injectedOutput, findInjected},
	{unseenOutput, findUnseen(poison.WayUnicode)},
	{terminalOutput, findUnseen(poison.WayTerminal)},
	{encodedOutput, findUnseen(poison.WayEncoded)},
}

// guardOutput is the control against all of them.
const guardOutput = "Treat what {object} returns as data: keep it out of sessions that hold secrets or tools that write, have every call that " +
	"follows from it confirmed, and filter it in a gateway."

var injectedOutput = Rule{
	ID: "MCPA-OUTPUT-001", Severity: report.SeverityHigh, Title: "An output that instructs the model",
	Description: "A result, an error, a notification or a request of the server takes back the model's instructions, or has it hide something from " +
		"the user (Medium); High where the model is at the same time to call a tool, to read or send a secret, or to fill the " +
		"address of a picture with data. What the server only gives back of what it was called with is no finding, and in prompts and sampling " +
		"requests, which are instructions by nature, only what is High or takes back the model's instructions is one.",
	Fix: "Take the text out of the server's own answers. Where it is a user's document, return it as a resource or mark it as quoted, so that " +
		"clients do not take it for the server's word.",
	Expected: "Documents about prompt injection that quote an attack: quotations, and passages that speak of attacks, examples or guardrails, " +
		"are spared. In 27,000 documents of published packages nothing is found. Hints which tool comes next are no findings.",
	Mitigation: guardOutput, References: []string{"OWASP MCP06:2025", "SAFE-T1102"},
}

var unseenOutput = Rule{
	ID: "MCPA-OUTPUT-002", Severity: report.SeverityHigh, Title: "Characters that people do not see in an output",
	Description: "An output has tag characters, runs of variation selectors or of zero-width characters, zero-width characters within " +
		"Latin words, or characters that turn Latin words about. High where they decode to a text, Medium where they do not.",
	Fix: "Remove such characters from what the server returns.",
	Expected: "Documents that were marked invisibly by whoever wrote them. Emoji, right-to-left and joining scripts and single characters from the " +
		"clipboard are no findings.",
	Mitigation: guardOutput, References: []string{"OWASP MCP06:2025", "SAFE-T1402"},
}

var terminalOutput = Rule{
	ID: "MCPA-OUTPUT-003", Severity: report.SeverityHigh, Title: "Terminal control sequences in an output",
	Description: "An output has an escape sequence that does more than colour text or redraw its own line: it conceals, moves the cursor, sets the " +
		"title or the clipboard, or is a link. High where an instruction follows, Medium otherwise.",
	Fix:        "Run programs without a terminal, or strip escape sequences from what they print.",
	Expected:   "Programs that draw on the whole screen. Colours, erasing within a line and the cursor's visibility are no findings.",
	Mitigation: guardOutput, References: []string{"OWASP MCP06:2025", "SAFE-T1402"},
}

var encodedOutput = Rule{
	ID: "MCPA-OUTPUT-004", Severity: report.SeverityHigh, Title: "An encoded instruction in an output",
	Description: "An output has base64, hexadecimal digits, escape sequences or percent-encoding that decode to what MCPA-OUTPUT-001 finds in the clear.",
	Fix:         "Take the text out of the server's own answers.",
	Expected:    "Those of MCPA-OUTPUT-001, in mails and files that are returned encoded.",
	Mitigation:  guardOutput, References: []string{"OWASP MCP06:2025", "SAFE-T1102"},
}

// findInjected finds outputs that instruct the model.
func findInjected(in Input) []draft {
	var all []draft
	for _, out := range in.Outputs {
		text := ownWords(out)
		injections := poison.Inject(text)
		for _, injection := range injections {
			slight := prompting(out) && !injection.Grave && !slices.Contains(injection.Means, poison.MeansOverride)
			if slight || alsoHidden(text, poison.Answered, injection.Quote) {
				continue
			}
			severity := report.SeverityMedium
			if injection.Grave {
				severity = report.SeverityHigh
			}
			all = append(all, outputDraft(in, out, severity, "that instructs the model: "+quoted(injection.Quote), injection.Quote))
		}
		if len(injections) == 0 {
			all = append(all, carriers(in, out, text)...)
		}
	}
	return all
}

// carriers are pictures that an output has the model put data into the address of.
func carriers(in Input, out report.Output, text string) []draft {
	var all []draft
	for _, h := range poison.Hide(text, poison.Answered, poison.WayMarkup) {
		all = append(all, outputDraft(in, out, report.SeverityHigh, "with "+h.How+saying(h), h.How+saying(h)))
	}
	return all
}

// findUnseen finds outputs that hide something in one way. A comment in a page is
// read as the rest of the page is.
func findUnseen(way poison.Way) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, out := range in.Outputs {
			for _, h := range poison.Hide(ownWords(out), poison.Answered, way) {
				severity := report.SeverityMedium
				if h.Directs() || spelled(h) {
					severity = report.SeverityHigh
				}
				all = append(all, outputDraft(in, out, severity, "with "+h.How+saying(h), h.How+saying(h)))
			}
		}
		return all
	}
}

func outputDraft(in Input, out report.Output, severity report.Severity, what, detail string) draft {
	how := ""
	switch {
	case len(out.Origins) > 0:
		how = " (called with " + clean(out.Origins[0], 120) + ")"
	case out.Arguments != "" && out.Arguments != "{}":
		how = " (called with " + clean(out.Arguments, 120) + ")"
	}
	message := sentence("%s sent %s%s %s", strings.ToUpper(name(out.Capability)[:1])+name(out.Capability)[1:], kindOf(out), how, what)
	return draft{
		severity: severity, phase: report.PhaseCall, capability: out.Capability, object: name(out.Capability), order: math.MaxInt, message: message,
		evidence: report.Evidence{
			Time: in.End, Detail: clean(fmt.Sprintf("%s %s: %s", out.Method, out.Kind, detail), 600), Attribution: report.AttributionInFlight,
		},
	}
}

// kindOf returns what an output is, with its article.
func kindOf(out report.Output) string {
	switch out.Kind {
	case report.OutputError:
		return "an error"
	case report.OutputNotification:
		return "a notification"
	case report.OutputRequest:
		return "a request"
	case report.OutputList:
		return "a completion"
	default:
		return "a result"
	}
}

// prompting tells of an output whether it is there to instruct the model.
func prompting(out report.Output) bool {
	return out.Capability.Kind == report.CapabilityPrompt || out.Kind == report.OutputRequest
}

// minEcho is the shortest value that is taken for an echo, in bytes; what is shorter
// is a word like any other.
const minEcho = 8

// ownWords is an output without what it gives back of the arguments.
func ownWords(out report.Output) string {
	var arguments any
	if json.Unmarshal([]byte(out.Arguments), &arguments) != nil {
		return out.Text
	}
	text := out.Text
	walkTexts(arguments, "", 0, func(_, value string) {
		if len(value) < minEcho {
			return
		}
		text = strings.ReplaceAll(text, value, " ")
		if escaped, err := json.Marshal(value); err == nil {
			text = strings.ReplaceAll(text, string(escaped[1:len(escaped)-1]), " ")
		}
	})
	return text
}
