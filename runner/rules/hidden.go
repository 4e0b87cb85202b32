package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// hiddenRules are about passages of the manifest that a model reads and people do not.
var hiddenRules = []family{
	{hiddenUnicode, findHidden(poison.WayUnicode)},
	{hiddenTerminal, findHidden(poison.WayTerminal)},
	{hiddenEncoded, findHidden(poison.WayEncoded)},
	{hiddenMarkup, findHidden(poison.WayMarkup)},
}

// showManifest is the control against all of them.
const showManifest = "Do not approve the server by what the client shows of {object}: read its manifest as JSON with all that is not ASCII " +
	"escaped, or use a client or gateway that removes such characters before the model sees them."

var hiddenUnicode = Rule{
	ID: "MCPA-POISON-010", Severity: report.SeverityHigh, Title: "Characters that people do not see in the manifest",
	Description: "A text of the manifest has tag characters, runs of variation selectors, of zero-width or of private-use characters, " +
		"zero-width characters within Latin words, or characters that turn Latin words about. A model reads them, the person who " +
		"approves the tool does not. High where they decode to a text, Medium where they do not.",
	Fix: "Write the text in characters that can be seen.",
	Expected: "Emoji sequences and flags, the marks of right-to-left and joining scripts, a byte order mark, soft hyphens, and one or two " +
		"zero-width spaces from the clipboard are no findings. A description that shows such a trick as an example is one.",
	Mitigation: showManifest, References: []string{"OWASP MCP03:2025", "SAFE-T1001", "SAFE-T1402"},
}

var hiddenTerminal = Rule{
	ID: "MCPA-POISON-011", Severity: report.SeverityHigh, Title: "Terminal control sequences in the manifest",
	Description: "A text of the manifest has an escape sequence. A client in a terminal obeys it: it can conceal, overwrite or colour away " +
		"what a person is to approve, or show one address and open another. High where an instruction follows, Medium otherwise.",
	Fix:        "Leave escape sequences out of names and descriptions; write \\x1b where one is meant to be shown.",
	Expected:   "None are known: sequences that are written out, as \\u001b, are no findings.",
	Mitigation: showManifest, References: []string{"OWASP MCP03:2025", "SAFE-T1402"},
}

var hiddenEncoded = Rule{
	ID: "MCPA-POISON-012", Severity: report.SeverityHigh, Title: "An encoded instruction in the manifest",
	Description: "A text of the manifest has base64, hexadecimal digits, escape sequences or percent-encoding that decode to an instruction, a " +
		"command or an address. Models decode such a run at a glance, people do not. High for an instruction or a command, Medium for an address.",
	Fix: "Write the text out.",
	Expected: "Examples that decode to an order. Keys, hashes, ids, tokens, images, certificates, JSON and greetings are no " +
		"findings: what is decoded has to ask for something.",
	Mitigation: showManifest, References: []string{"OWASP MCP03:2025", "SAFE-T1001"},
}

var hiddenMarkup = Rule{
	ID: "MCPA-POISON-013", Severity: report.SeverityHigh, Title: "A text of the manifest that is not shown when it is rendered",
	Description: "A text of the manifest instructs from within an HTML or Markdown comment or an element whose style shows nothing (High), has a " +
		"picture whose address is to be filled with data (High), or goes on behind so much whitespace that it is out of view (Medium, or High " +
		"where it instructs).",
	Fix: "Say it where it can be read, or leave it out.",
	Expected: "Comments that are left from a page that the description was made of: only those that ask for something are found. " +
		"Tables and code keep well below the whitespace that counts (20 lines or 150 columns).",
	Mitigation: showManifest, References: []string{"OWASP MCP03:2025", "SAFE-T1001"},
}

// findHidden finds what is hidden in one way, in each capability once.
func findHidden(way poison.Way) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		eachText(in.Manifest, func(of report.Capability, field, text string) {
			for _, h := range poison.Hide(text, poison.Declared, way) {
				all = append(all, hiddenDraft(in, of, field, h))
			}
		})
		return all
	}
}

func hiddenDraft(in Input, of report.Capability, field string, h poison.Hidden) draft {
	d := draft{
		severity: report.SeverityMedium, phase: report.PhaseList, capability: of, object: name(of), order: math.MaxInt,
		message: sentence("The %s of %s has %s%s", clean(field, 100), name(of), h.How, saying(h)),
		evidence: report.Evidence{
			Time: in.End, Detail: clean(fmt.Sprintf("%s: %s%s", field, h.How, saying(h)), 400), Attribution: report.AttributionPhase,
		},
	}
	if h.Directs() || spelled(h) {
		d.severity = report.SeverityHigh
	}
	return d
}

// alsoHidden tells of a passage of a text whether it is found because it is hidden,
// which says more than that it directs.
func alsoHidden(text string, in poison.Place, quote string) bool {
	passage := letters(poison.Plain(quote))
	for _, way := range poison.Ways {
		if in == poison.Answered && way == poison.WayMarkup {
			continue // the rule is that of what directs
		}
		for _, h := range poison.Hide(text, in, way) {
			if says := letters(h.Says); says != "" && (strings.Contains(says, passage) || strings.Contains(passage, says)) {
				return true
			}
		}
	}
	return false
}

// letters returns the letters of a text, and nothing that could stand between them.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// spelled tells of characters that spell a text, whatever it says: nobody does so by
// mistake.
func spelled(h poison.Hidden) bool { return h.Way == poison.WayUnicode && h.Says != "" }

// saying returns what a hidden passage says, for the end of a sentence.
func saying(h poison.Hidden) string {
	if h.Says == "" {
		return ""
	}
	return ", behind which is: " + quoted(h.Says)
}

// eachText calls visit with every text of a manifest, keys of objects included, in
// a constant order. What no model is shown (`_meta`, icons) is left out.
func eachText(m manifest.Manifest, visit func(of report.Capability, field, text string)) {
	server := report.Capability{Kind: report.CapabilityServer}
	visit(server, "name", manifest.Text(m.ServerName))
	visit(server, "instructions", manifest.Text(m.Instructions))
	for _, list := range []struct {
		kind  report.CapabilityKind
		items []json.RawMessage
	}{
		{report.CapabilityTool, m.Tools}, {report.CapabilityResource, m.Resources},
		{report.CapabilityResourceTemplate, m.ResourceTemplates}, {report.CapabilityPrompt, m.Prompts},
	} {
		for _, item := range manifest.Items(list.kind, list.items) {
			of := report.Capability{Kind: list.kind, Name: item.Name}
			for _, key := range slices.Sorted(maps.Keys(item.Members)) {
				var value any
				if key == "_meta" || key == "icons" || json.Unmarshal(item.Members[key], &value) != nil {
					continue
				}
				walkTexts(value, key, 0, func(field, text string) { visit(of, field, text) })
			}
		}
	}
}

// maxWalk is how deep the texts of a schema lie at most; no model reads further.
const maxWalk = 64

func walkTexts(value any, field string, depth int, visit func(field, text string)) {
	if depth > maxWalk {
		return
	}
	switch v := value.(type) {
	case string:
		visit(field, v)
	case []any:
		for _, one := range v {
			walkTexts(one, field, depth+1, visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(field, key)
			walkTexts(v[key], strings.Join([]string{field, key}, "."), depth+1, visit)
		}
	}
}
