package rules

import (
	"math"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// poisonRules are about texts that govern what the model does elsewhere. What
// makes one so is package poison's to say.
var poisonRules = []family{
	{injected, directed(poison.Authority, injected.Severity)},
	{hijacked, directed(poison.ToolSequence, hijacked.Severity)},
	{overridden, directed(poison.ParameterOverride, overridden.Severity)},
	{shadowed, directed(poison.Shadowing, shadowed.Severity)},
	{concealed, directed(poison.Concealment, concealed.Severity)},
	{secretAsked, directed(poison.SensitiveData, secretAsked.Severity)},
	{redirected, directed(poison.Redirection, redirected.Severity)},
	{contextAsked, directed(poison.ContextRequest, contextAsked.Severity)},
}

// What the rules about such texts have in common.
const (
	plainText   = "Say in a text what the thing does and takes. What has to happen before a call belongs into the server's code."
	withoutIt   = "Do not give {object} to a model: leave it out by the client's or gateway's tool filter, and pin the manifest's digest to have a change of it noticed. "
	poisonClass = "OWASP MCP03:2025"
	safePoison  = "SAFE-T1001"
	english     = " Texts in other languages than English are not understood."
)

var injected = Rule{
	ID: "MCPA-POISON-001", Severity: report.SeverityHigh, Title: "Text claims authority over the model",
	Description: "A text of the manifest ranks itself above the user or other instructions, tells the model to set those aside, or contains marks " +
		"of the model's own dialogue (`<|im_start|>`, `[INST]`, a system message). \"IMPORTANT\", capitals and tags are no finding by themselves.",
	Fix: plainText,
	Expected: "A tool whose subject is prompts may quote such a sentence as an example. A rank is only counted where it is one over " +
		"the user, the prompt or instructions, so that \"`path` takes precedence over `url`\" is none." + english,
	Mitigation: withoutIt + "Keep the client's confirmation of calls on.", References: []string{poisonClass, "OWASP MCP06:2025", safePoison},
}

var hijacked = Rule{
	ID: "MCPA-POISON-002", Severity: report.SeverityHigh, Title: "Text orders calls of other tools",
	Description: "A text makes a call of another tool a condition or a consequence of something, and does more than to name where its own inputs come " +
		"from: it ties together two tools that are both not its own, dictates the call's arguments, names secrets, or names a tool that " +
		"the server does not have. \"Call `list_projects` first to get the id\" is no finding, nor are the server's instructions about its own tools.",
	Fix: plainText,
	Expected: "A tool that is a step of a fixed procedure, and whose text gives the values for the next step. The parts of the sentence are weighed, " +
		"and one part alone (\"must\", \"first\", \"to verify\") is never enough." + english,
	Mitigation: withoutIt + "Have calls of the tools that it names confirmed one by one.", References: []string{poisonClass, safePoison, "SAFE-T1102"},
}

var overridden = Rule{
	ID: "MCPA-POISON-003", Severity: report.SeverityHigh, Title: "Text changes the arguments of other tools",
	Description: "A text has the model replace, extend or fix what is passed to another tool, or what the user asked for. What a text says " +
		"of its own tool's arguments is no finding, unless it is to hold regardless of the user.",
	Fix:        plainText,
	Expected:   "Advice on an argument that is called otherwise in the text than in the schema. It counts only as an order with a fixed value." + english,
	Mitigation: withoutIt + "Show the arguments of calls to the user before they are sent.", References: []string{poisonClass, safePoison, "SAFE-T1102"},
}

var shadowed = Rule{
	ID: "MCPA-POISON-004", Severity: report.SeverityMedium, Title: "Text replaces a tool of another server",
	Description: "A text names a tool that this server does not have, and declares it replaced, unsafe or out of use, or has another called in its place.",
	Fix:         "Say what the tool is good for, and not which others are not to be used.",
	Expected: "A text that still names a tool of an earlier version of the server, or one that is part of well-known clients. It must be named " +
		"as a tool, and be told not to be used." + english,
	Mitigation: withoutIt + "Give servers separate name spaces in the client.", References: []string{poisonClass, "SAFE-T1301"},
}

var concealed = Rule{
	ID: "MCPA-POISON-005", Severity: report.SeverityHigh, Title: "Text has something kept from the user",
	Description: "A text has the model not tell the user what it does, or do it silently. What an answer is to look like (\"do not show raw ids\") " +
		"is no finding.",
	Fix: plainText,
	Expected: "A text that keeps an internal step out of a conversation to be brief. What is to be withheld has to be a deed, not " +
		"a form of data." + english,
	Mitigation: withoutIt + "Log all calls where the user sees them.", References: []string{poisonClass, "OWASP MCP06:2025", safePoison},
}

var secretAsked = Rule{
	ID: "MCPA-POISON-006", Severity: report.SeverityHigh, Title: "Text asks for secrets",
	Description: "A text, or the name of an argument, has the model read a file that it names by its path, or one that holds keys or accounts, and hand " +
		"over the contents.",
	Fix:        "Read what the server needs in the server, as the user has configured it.",
	Expected:   "A tool for key files that documents its defaults. That a key or a file is an argument is no finding." + english,
	Mitigation: withoutIt + "Give the client no tool that reads files outside the project.", References: []string{poisonClass, "OWASP MCP01:2025", safePoison},
}

var redirected = Rule{
	ID: "MCPA-POISON-007", Severity: report.SeverityHigh, Title: "Text sends data to an address of its own",
	Description: "A text orders data to be sent to a URL or mail address that the text fixes.",
	Fix:         plainText,
	Expected:    "Where to report errors: what is sent must be more than feedback, and it must be an order." + english,
	Mitigation:  withoutIt + "Allow the other servers only the egress that they need.", References: []string{poisonClass, safePoison, "SAFE-T1910"},
}

var contextAsked = Rule{
	ID: "MCPA-POISON-008", Severity: report.SeverityMedium, Title: "Text asks for the model's prompt or conversation",
	Description: "A text has the model pass its system prompt, the conversation or its list of tools to the server. That an argument is called " +
		"`system_prompt` is no finding: tools that ask another model have one.",
	Fix:        "Ask for the part of the user's request that the tool works on.",
	Expected:   "Tools that keep or summarise conversations." + english,
	Mitigation: withoutIt, References: []string{poisonClass, "OWASP MCP10:2025", safePoison},
}

// directive is a passage of the manifest that directs the model.
type directive struct {
	of    report.Capability
	field string
	poison.Finding
}

// maxDirecting bounds the texts of a manifest that are read, in bytes.
const maxDirecting = 4 << 20

// directives reads all texts of a manifest.
func directives(m manifest.Manifest) []directive {
	tools, arguments := poison.Names{}, map[report.Capability]poison.Names{}
	eachText(m, func(of report.Capability, field, text string) {
		switch {
		case field == "name" && of.Kind == report.CapabilityTool:
			tools[strings.ToLower(text)] = true
		case ownWord(field, text):
			if arguments[of] == nil {
				arguments[of] = poison.Names{}
			}
			arguments[of][strings.ToLower(text)] = true
		}
	})
	var all []directive
	left := maxDirecting
	eachText(m, func(of report.Capability, field, text string) {
		if left -= len(text); left < 0 || text == "" {
			return
		}
		found := poison.Read(text, poison.Context{Kind: textKind(of, field), Own: of.Name, Parameters: arguments[of], Tools: tools})
		for _, f := range found {
			if !alsoHidden(text, poison.Declared, f.Quote) {
				all = append(all, directive{of, field, f})
			}
		}
	})
	return all
}

// ownWord tells of a text of the manifest whether it is the name of an argument of
// the tool, or a value that one can have.
func ownWord(field, text string) bool {
	last := field[strings.LastIndexByte(field, '.')+1:]
	return len(text) <= 100 && (last == "properties" || last == "enum" || last == "const" || last == "default" || last == "required" || field == "arguments" || field == "arguments.name")
}

// textKind returns what a text is in the manifest, by its path.
func textKind(of report.Capability, field string) poison.Kind {
	first, _, _ := strings.Cut(field, ".")
	last := field[strings.LastIndexByte(field, '.')+1:]
	switch {
	case of.Kind == report.CapabilityServer && field == "instructions":
		return poison.KindInstructions
	case last == "name" || last == "properties" || last == "required":
		return poison.KindName
	case last == "enum" || last == "const" || last == "default" || last == "examples":
		return poison.KindValue
	case first == "outputSchema":
		return poison.KindOutputSchema
	case first == "inputSchema" || first == "arguments":
		return poison.KindParameter
	case last == "title":
		return poison.KindTitle
	}
	return poison.KindDescription
}

// directed finds one technique, and gives it a severity.
func directed(technique poison.Technique, severity report.Severity) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, d := range in.directives {
			if d.Technique == technique {
				f := directing(in, d)
				f.severity = severity
				all = append(all, f)
			}
		}
		return all
	}
}

// doings say what a passage does, for the middle of a sentence.
var doings = map[poison.Technique]string{
	poison.Authority:         "claims authority over the model's other instructions",
	poison.ToolSequence:      "orders a call of another tool",
	poison.ParameterOverride: "changes what is passed to a call that is not its own",
	poison.Shadowing:         "puts another tool in the place of one that the server does not have",
	poison.Concealment:       "has something kept from the user",
	poison.SensitiveData:     "asks for a file or a secret",
	poison.Redirection:       "sends data to an address that it fixes",
	poison.ContextRequest:    "asks for the model's prompt or conversation",
}

func directing(in Input, d directive) draft {
	quote := strings.Join(strings.Fields(d.Quote), " ")
	tools := ""
	if len(d.Tools) > 0 {
		tools = " (" + clean(strings.Join(d.Tools, ", "), 80) + ")"
	}
	return draft{
		phase: report.PhaseList, capability: d.of, object: name(d.of), order: math.MaxInt,
		message: sentence("The %s of %s %s%s: %s", clean(d.field, 100), name(d.of), doings[d.Technique], tools, quoted(quote)),
		evidence: report.Evidence{
			Time: in.End, Detail: clean(d.of.String()+", "+d.field, 200) + ": " + clean(quote, 400), Attribution: report.AttributionPhase,
		},
	}
}
