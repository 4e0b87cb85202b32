package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/poison"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/squat"
)

// findInjected finds outputs that instruct the model.
func findInjected(in Input) []draft {
	var all []draft
	free := freeArguments(in.Manifest)
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
			all = append(all, findAuthored(in, out, text, free[out.Capability])...)
		}
	}
	return all
}

// leastSure is how sure the reader of descriptions has to be of an answer.
const leastSure = 0.8

// findAuthored finds orders in an answer that the server has made up itself: where it has read no
// file and asked no machine, the answer is as much its own word as a description, and is read as one.
func findAuthored(in Input, out Output, text string, free poison.Names) []draft {
	if prompting(out) || rendered(out) || in.fetched(out.Capability) {
		return nil
	}
	context := poison.Context{Kind: poison.KindContent, Own: out.Capability.Name, Parameters: free, Free: free, Tools: in.toolNames.tools, Kinds: in.toolNames.kinds, Family: in.toolNames.family}
	prose := proseOf(out, text)
	for _, f := range poison.Read(prose, context) {
		ordered := f.Technique == poison.ToolSequence || f.Technique == poison.ParameterOverride
		switch {
		case f.Technique == poison.SensitiveData, f.Technique == poison.Redirection, f.Technique == poison.ContextRequest, ordered && aside(out):
			if f.Confidence >= leastSure && !alsoHidden(prose, poison.Answered, f.Quote) {
				return []draft{outputDraft(in, out, report.SeverityHigh, "that instructs the model: "+quoted(f.Quote), f.Quote)}
			}
		}
	}
	if quote := cmp.Or(poison.Authored(text, prose), in.fetchesCode(out, prose)); quote != "" {
		return []draft{outputDraft(in, out, report.SeverityHigh, "that instructs the model: "+quoted(quote), quote)}
	}
	return nil
}

// proseOf returns the text of an output, with the texts of JSON in place of it where no document comes.
func proseOf(out Output, text string) string {
	if aside(out) || out.Kind == report.OutputError || json.Valid([]byte(text)) || defines(text) {
		return plainly(text)
	}
	return text
}

// fetchesCode returns a command of an answer that runs code of a host that nobody knows, as a condition of a call; "" if
// there is none. Vendors send people to installers, and documents quote them.
func (in Input) fetchesCode(out Output, text string) string {
	install, ok := poison.Installs(text)
	if !ok || !install.Resumes && out.Kind != report.OutputError {
		return ""
	}
	_, known := squat.Site(install.Host)
	if known || under(install.Host, lexicon.InstallerHosts) || in.speaksOf(install.Host) || in.namesMissing(text) {
		return ""
	}
	return install.Quote
}

// namesMissing reports whether a text names a program that the server looked for in vain.
func (in Input) namesMissing(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
	return slices.ContainsFunc(in.Missing, func(name string) bool { return slices.Contains(words, strings.ToLower(name)) })
}

// rendered reports whether an output is a page of an MCP App (SEP-1865), which clients show in a frame
// of its own and give to no model: most of it is code.
func rendered(out Output) bool {
	return out.Capability.Kind == report.CapabilityResource && strings.HasPrefix(out.Capability.Name, "ui://")
}

// aside reports whether an output stands beside an answer: a log, progress, what completes an argument. No document comes
// that way, and nobody has to know there what is to be called next.
func aside(out Output) bool {
	return out.Kind == report.OutputNotification || out.Kind == report.OutputList
}

// defines reports whether a text has definitions in JSON, such as those of tools or of the fields of a form: their
// descriptions are read one by one, as those of a manifest are.
func defines(text string) bool { return strings.Count(text, `"description":`) > 1 }

// plainly is a text with the texts of the JSON that is in it in place of that, each by itself: within quotes it would be a
// word of a sentence. Of JSON that was cut off, what is left is as it stands.
func plainly(text string) string {
	at := strings.IndexAny(text, "{[")
	if at < 0 {
		return text
	}
	all, depth := []string{text[:at]}, 0
	decoder := json.NewDecoder(strings.NewReader(text[at:]))
	for {
		token, err := decoder.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if value, is := token.(string); is {
			all = append(all, value)
		}
		if err != nil || depth == 0 {
			return strings.Join(append(all, text[at+int(decoder.InputOffset()):]), "\n\n")
		}
	}
}

// fetched reports whether what a capability answers may be somebody else's: it has read a file, run a program or
// connected to something.
func (in Input) fetched(of report.Capability) bool {
	return slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		switch e.Kind {
		case profile.KindRead, profile.KindList, profile.KindExec, profile.KindConnect:
			return asked(e.Phase) && (e.Capability == of || e.AlternativeCause == of) && (e.Kind != profile.KindRead || isFile(e.Path) && !systemic(e.Path))
		}
		return false
	})
}

// carriers are pictures that an output has the model put data into the address of.
func carriers(in Input, out Output, text string) []draft {
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

func outputDraft(in Input, out Output, severity report.Severity, what, detail string) draft {
	how := ""
	switch {
	case len(out.Origins) > 0:
		how = " (called with " + clean(out.Origins[0], 120) + ")"
	case out.Arguments != "" && out.Arguments != "{}":
		how = " (called with " + clean(out.Arguments, 120) + ")"
	}
	message := inLaunch(out.When, sentence("%s sent %s%s %s", capital(name(out.Capability)), kindOf(out.Output), how, what))
	return draft{
		severity: severity, phase: report.PhaseCall, capability: out.Capability, object: name(out.Capability), message: message,
		evidence: report.Evidence{
			Time: report.At(in.End), Detail: clean(fmt.Sprintf("%s %s: %s", out.Method, out.Kind, detail), 600), Attribution: report.AttributionInFlight,
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
func prompting(out Output) bool {
	return out.Capability.Kind == report.CapabilityPrompt && !aside(out) || out.Kind == report.OutputRequest
}

// minEcho is the shortest value that is taken for an echo, in bytes; what is shorter
// is a word like any other.
const minEcho = 8

// ownWords is an output without what it gives back of the arguments.
func ownWords(out Output) string {
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
