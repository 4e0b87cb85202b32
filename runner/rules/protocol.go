package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
)

var protocolRules = []family{
	{pollutedStdout, findPollution},
	{endlessList, findBreaches(breach.CursorTwice, breach.LongList)},
	{oversizedMessage, findBreaches(breach.Oversized)},
	{malformedMessage, findBreaches(breach.Malformed, breach.Nameless)},
	{unaskedAnswer, findBreaches(breach.Twice, breach.Unasked)},
	{duplicateTool, findBreaches(breach.SameName, breach.SameTool)},
	{flood, findBreaches(breach.Flood, breach.Unread)},
}

var pollutedStdout = Rule{
	ID: "MCPA-PROTOCOL-001", Severity: report.SeverityLow, Title: "Text on stdout that is not MCP",
	Description: "The server wrote lines to stdout that are no JSON-RPC messages. The specification (transports, stdio) " +
		"allows nothing else there; clients differ in what they make of it.",
	Fix:        "Write logs and banners to stderr.",
	Expected:   "None is known: the line is there, or not. Many servers print a banner that way by mistake, which is why it is Low.",
	Mitigation: "Run the server behind a gateway that passes on nothing but well-formed messages, and read its stderr instead.",
	References: []string{"MCP transports"},
}

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
		severity: report.SeverityLow, phase: p.Phase, capability: p.Capability, object: "stdout", order: math.MaxInt,
		message: sentence("The server wrote %s %s", what, quoted(p.Sample)),
		evidence: report.Evidence{
			Time: in.End, Detail: "stdout: " + clean(p.Sample, 200), Attribution: report.AttributionPhase,
		},
	}}
}

var endlessList = Rule{
	ID: "MCPA-PROTOCOL-002", Severity: report.SeverityMedium, Title: "A list without an end",
	Description: "A list led back to a page that it had shown before (Medium), or was not at its end after more pages, " +
		"items or bytes than any honest list has (Low). A client that follows the cursors to the end never gets there.",
	Fix:        "Leave nextCursor out on the last page, and give each page a cursor of its own.",
	Expected:   "A server with more items than the audit takes (128 pages) is Low, whether its list ends or not; that a cursor comes twice is beyond doubt.",
	Mitigation: "Set a limit of pages and of time in the client or the gateway.",
	References: []string{"MCP pagination"},
}

var oversizedMessage = Rule{
	ID: "MCPA-PROTOCOL-003", Severity: report.SeverityLow, Title: "A message too long to be taken",
	Description: "The server sent a message of more than 64 MiB. The specification has no limit, but clients read a message " +
		"as a whole; what it said could not be looked at. A shorter one is no finding, though one of more than 8 MiB " +
		"makes the audit Inconclusive.",
	Fix:        "Cut large results into pages or resources.",
	Expected:   "A tool that returns whole files and was given a large one; no audit has a file of that size in it.",
	Mitigation: "Set a limit of bytes for a message in the client or the gateway, and a limit of memory for both.",
	References: []string{"MCP transports"},
}

var malformedMessage = Rule{
	ID: "MCPA-PROTOCOL-004", Severity: report.SeverityLow, Title: "A message that is not well-formed",
	Description: "The server sent what is meant to be a message and is no valid JSON, or no JSON-RPC 2.0 as MCP has it: cut " +
		"short, a batch, a result and an error at once; or it listed something without a name.",
	Fix:        "Write each message with the SDK's own functions, one JSON object at a time.",
	Expected:   "None is known: the same message is refused by any strict parser. What a dying server leaves half written counts as well.",
	Mitigation: "Run the server behind a gateway that passes on nothing but well-formed messages.",
	References: []string{"MCP basic"},
}

var unaskedAnswer = Rule{
	ID: "MCPA-PROTOCOL-005", Severity: report.SeverityMedium, Title: "An answer that nobody had asked for",
	Description: "The server answered a request a second time, or sent an answer with an id that no request had by then. " +
		"Which of two answers a client believes, and whether it takes one that came before the question, differs between " +
		"clients: what one shows, another does not. Late answers to requests that were given up on are no finding.",
	Fix:        "Answer each request once, with its own id as it came: a number as a number.",
	Expected:   "A server that answers a request late which the audit has given up on is told apart by its id.",
	Mitigation: "Use a client or a gateway that takes the first answer to an id that it has asked with, and drops all others.",
	References: []string{"MCP basic", "SAFE-T1404"},
}

var duplicateTool = Rule{
	ID: "MCPA-PROTOCOL-006", Severity: report.SeverityMedium, Title: "Two tools of one name",
	Description: "The list of tools has a name twice. Which of the two is shown to a person and which is called is for each " +
		"client to say. Medium where they differ, Low where the same tool is listed twice.",
	Fix:        "Give each tool a name of its own.",
	Expected:   "A server that builds its list from several sources and has the same tool in two of them is Low.",
	Mitigation: "Leave the tools of that name out by the filter of the client or the gateway, or refuse the server.",
	References: []string{"MCP tools", "SAFE-T1008"},
}

var flood = Rule{
	ID: "MCPA-PROTOCOL-007", Severity: report.SeverityLow, Title: "More messages than a client can take",
	Description: "In place of an answer the server sent notifications or requests of its own without an end, or requests " +
		"whose answers it did not read.",
	Fix:        "Limit how often progress is told, and read stdin while waiting for an answer.",
	Expected:   "A call that takes long and tells of its progress every few milliseconds; the limit is far beyond what a person can read.",
	Mitigation: "Set a limit of messages and of time for a call in the client or the gateway, and limits of CPU and memory for the server.",
	References: []string{"MCP progress"},
}

// said is how a breach is put into words: once with its sample, often with its
// count and the first sample.
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
				severity: words.severity, phase: b.Phase, capability: b.Capability, object: string(b.Kind), order: math.MaxInt,
				message: sentence("%s", message),
				evidence: report.Evidence{
					Time: b.Time, Detail: string(b.Kind) + ": " + clean(b.Sample, breach.MaxSample), Attribution: report.AttributionPhase,
				},
			})
		}
		return all
	}
}
