package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/poison"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/squat"
)

// findInjected finds outputs that instruct the model.
func findInjected(in Input) []draft {
	var all []draft
	free := freeArguments(in.Manifest)
	for _, out := range in.Outputs {
		text := out.own
		injections, hidden := poison.Inject(text), alsoHidden(text, poison.Answered)
		for _, injection := range injections {
			slight := prompting(out) && !injection.Grave && !slices.Contains(injection.Means, poison.MeansOverride)
			if slight || hidden(injection.Quote) {
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

// leastSure is the least confidence of a finding about an answer that is read as a description.
const leastSure = 0.8

// findAuthored finds orders in an answer that the server wrote itself: if it has read no file and contacted no
// machine, the answer is read like a description. free are the arguments of its tool that take any text.
func findAuthored(in Input, out Output, text string, free poison.Names) []draft {
	if rendered(out) || in.fetched(out.Capability) {
		return nil
	}
	if prompting(out) {
		if quote := in.fetchesCode(out, text); quote != "" {
			return []draft{outputDraft(in, out, report.SeverityHigh, "that has the model run code of an unknown host: "+quoted(quote), quote)}
		}
		return nil
	}
	context := poison.Context{Kind: poison.KindContent, Own: out.Capability.Name, Parameters: free, Free: free, Tools: in.toolNames.tools, Kinds: in.toolNames.kinds, Family: in.toolNames.family}
	prose := proseOf(out, text)
	hidden := alsoHidden(prose, poison.Answered)
	for _, f := range poison.Read(prose, context) {
		ordered := f.Technique == poison.ToolSequence || f.Technique == poison.ParameterOverride
		switch {
		case f.Technique == poison.SensitiveData, f.Technique == poison.Redirection, f.Technique == poison.ContextRequest, ordered && aside(out):
			if f.Confidence >= leastSure && !hidden(f.Quote) {
				return []draft{outputDraft(in, out, report.SeverityHigh, "that instructs the model: "+quoted(f.Quote), f.Quote)}
			}
		}
	}
	if quote := cmp.Or(poison.Authored(text, prose), in.fetchesCode(out, prose), in.foreignCall(out, text)); quote != "" {
		return []draft{outputDraft(in, out, report.SeverityHigh, "that instructs the model: "+quoted(quote), quote)}
	}
	return nil
}

// proseOf returns the text of an output, with JSON replaced by the strings in it if the output is no document.
func proseOf(out Output, text string) string {
	if aside(out) || out.Kind == report.OutputError || json.Valid([]byte(text)) || defines(text) {
		return plainly(text)
	}
	return text
}

// fetchesCode returns a command of an answer that runs code of an unknown host, as a condition of a call; "" if there is
// none. Honest servers name the installers of well-known programs, of their own vendor, and of programs that they looked
// for in vain.
func (in Input) fetchesCode(out Output, text string) string {
	install, ok := poison.Installs(text)
	if !ok || !install.Resumes && out.Kind != report.OutputError && !prompting(out) {
		return ""
	}
	_, known := squat.Site(install.Host)
	if known || under(install.Host, lexicon().InstallerHosts) || in.speaksOf(install.Host) || in.namesMissing(text) {
		return ""
	}
	return install.Quote
}

// namesMissing reports whether a text names a program that the server looked for in vain.
func (in Input) namesMissing(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
	return slices.ContainsFunc(in.Missing, func(name string) bool { return slices.Contains(words, strings.ToLower(name)) })
}

// rendered reports whether an output is a page of an MCP App (SEP-1865), which clients show in a separate
// frame and give to no model: most of it is code.
func rendered(out Output) bool {
	return out.Capability.Kind == report.CapabilityResource && strings.HasPrefix(out.Capability.Name, "ui://")
}

// aside reports whether an output is not an answer: a log, progress, the completion of an argument. Documents do not come
// that way, and instructions about further calls do not belong there.
func aside(out Output) bool {
	return out.Kind == report.OutputNotification || out.Kind == report.OutputList
}

// defines reports whether a text has definitions in JSON, such as those of tools or of the fields of a form: their
// descriptions are read one by one, as those of a manifest are.
func defines(text string) bool { return strings.Count(text, `"description":`) > 1 }

// plainly replaces the JSON in a text by the strings in it, each as a paragraph, because quoted ones are not read as
// sentences. The rest of truncated JSON stays as it is.
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

// fetched reports whether the answers of a capability may have another author: it has read a file, run a program or
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

// carriers finds pictures into whose address the model is to put data.
func carriers(in Input, out Output, text string) []draft {
	var all []draft
	for _, h := range poison.Hide(text, poison.Answered, poison.WayMarkup) {
		all = append(all, outputDraft(in, out, report.SeverityHigh, "with "+h.How+saying(h), h.How+saying(h)))
	}
	return all
}

// findUnseen finds outputs with text that is hidden in one way.
func findUnseen(way poison.Way) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		for _, out := range in.Outputs {
			for _, h := range poison.Hide(out.own, poison.Answered, way) {
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

// kindOf names an output, with an article.
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

// prompting reports whether an output is meant to instruct the model.
func prompting(out Output) bool {
	return out.Capability.Kind == report.CapabilityPrompt && !aside(out) || out.Kind == report.OutputRequest
}

// minEcho is the length of the shortest value that counts as an echo, and longPart that of the shortest part of one, in
// bytes.
const minEcho, longPart = 8, 24

// withoutParts returns a text with a blank in place of each long part that it shares with another, in whole characters.
func withoutParts(text, other string) string {
	whole := func(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }
	known := map[string]bool{}
	for i := longPart; i <= len(other); i++ {
		if whole(other, i-longPart) && whole(other, i) {
			known[other[i-longPart:i]] = true
		}
	}
	var kept strings.Builder
	from := 0 // where the rest of the text begins
	for i := longPart; i <= len(text); i++ {
		begin := i - longPart
		if !known[text[begin:i]] {
			continue
		}
		if begin >= from {
			kept.WriteString(text[from:begin] + " ")
		}
		from = i
	}
	kept.WriteString(text[from:])
	return kept.String()
}

// told replaces by blanks what the audit made up and told any tool, the longest first: a list of what is stored is not
// the server's own words.
func (in Input) told() *strings.Replacer {
	values := map[string]bool{}
	for _, arguments := range in.Arguments {
		for _, a := range arguments {
			if len(a.Value) >= minEcho && strings.Contains(a.Value, inputs.Word) {
				values[a.Value] = true
			}
		}
	}
	var pairs []string
	for _, value := range slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, value, " ")
	}
	return strings.NewReplacer(pairs...)
}

// ownWords returns an output without the arguments that it repeats, whole or in long parts: a tool that searches a text
// quotes what it has found.
func ownWords(out report.Output) string {
	var arguments any
	if json.Unmarshal([]byte(out.Arguments), &arguments) != nil {
		return withoutParts(out.Text, out.Arguments) // cut
	}
	text := out.Text
	var long []string
	walkTexts(arguments, "", 0, func(_, value string) {
		if len(value) < minEcho {
			return
		}
		text = strings.ReplaceAll(text, value, " ")
		if escaped, err := json.Marshal(value); err == nil {
			text = strings.ReplaceAll(text, string(escaped[1:len(escaped)-1]), " ")
		}
		if len(value) > longPart {
			long = append(long, value)
		}
	})
	for _, value := range long {
		text = withoutParts(text, value)
	}
	return text
}
