package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// findHidden finds text that is hidden in one way.
func findHidden(way poison.Way) func(Input) []draft {
	return func(in Input) []draft {
		var all []draft
		hiding := func(when string) func(report.Capability, string, string) {
			return func(of report.Capability, field, text string) {
				for _, h := range poison.Hide(text, poison.Declared, way) {
					all = append(all, hiddenDraft(in, of, field, when, h))
				}
			}
		}
		in.eachText(hiding(""))
		for _, other := range in.Others {
			eachText(other.Manifest, hiding(other.When))
		}
		return all
	}
}

func hiddenDraft(in Input, of report.Capability, field, when string, h poison.Hidden) draft {
	d := draft{
		severity: report.SeverityMedium, phase: report.PhaseList, capability: of, object: name(of),
		message:  inLaunch(when, sentence("The %s of %s has %s%s", clean(field, 100), name(of), h.How, saying(h))),
		evidence: evidenceAt(in.End, clean(fmt.Sprintf("%s: %s%s", field, h.How, saying(h)), 400)),
	}
	if h.Directs() || spelled(h) {
		d.severity = report.SeverityHigh
	}
	return d
}

// alsoHidden returns a check whether the rules about hidden text find a passage of a text as well, which says more
// than that it directs the model. It searches the text once, for any number of passages.
func alsoHidden(text string, in poison.Place) func(quote string) bool {
	hidden := sync.OnceValue(func() (all []string) {
		for _, way := range poison.Ways {
			if in == poison.Answered && way == poison.WayMarkup {
				continue // another rule judges what directs a model
			}
			for _, h := range poison.Hide(text, in, way) {
				if says := letters(h.Says); says != "" {
					all = append(all, says)
				}
			}
		}
		return all
	})
	return func(quote string) bool {
		passage := letters(poison.Plain(quote))
		return slices.ContainsFunc(hidden(), func(says string) bool { return strings.Contains(says, passage) || strings.Contains(passage, says) })
	}
}

// letters returns only the letters of a text, in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// spelled reports whether hidden characters spell a text, which never happens by mistake.
func spelled(h poison.Hidden) bool { return h.Way == poison.WayUnicode && h.Says != "" }

// saying quotes a hidden passage, for the end of a sentence.
func saying(h poison.Hidden) string {
	if h.Says == "" {
		return ""
	}
	return ", behind which is: " + quoted(h.Says)
}

// eachText calls visit with every text of a manifest, keys of objects included, in
// a constant order. Icons are left out, which no model is shown. One that is too long
// has no texts.
func eachText(m manifest.Manifest, visit func(of report.Capability, field, text string)) {
	if m.TooLong() {
		return
	}
	server := report.Capability{Kind: report.CapabilityServer}
	visit(server, "name", manifest.Text(m.ServerName))
	visit(server, "instructions", manifest.Text(m.Instructions))
	for _, kind := range manifest.Kinds {
		for _, item := range manifest.Items(kind, *m.List(kind)) {
			of := report.Capability{Kind: kind, Name: item.Name}
			for _, key := range slices.Sorted(maps.Keys(item.Members)) {
				var value any
				if key == "icons" || json.Unmarshal(item.Members[key], &value) != nil {
					continue
				}
				walkTexts(value, key, 0, func(field, text string) { visit(of, field, text) })
			}
		}
	}
}

// text of a manifest.
type text struct {
	of        report.Capability
	field, is string
}

func textsOf(m manifest.Manifest) (all []text) {
	eachText(m, func(of report.Capability, field, is string) { all = append(all, text{of, field, is}) })
	return all
}

// eachText calls visit with every text of the server's manifest.
func (in Input) eachText(visit func(of report.Capability, field, text string)) {
	if in.texts == nil {
		in.texts = textsOf(in.Manifest)
	}
	eachOf(in.texts, visit)
}

func eachOf(texts []text, visit func(of report.Capability, field, text string)) {
	for _, t := range texts {
		visit(t.of, t.field, t.is)
	}
}

// maxWalk bounds the depth at which texts of a schema are read.
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
			walkTexts(v[key], field+"."+key, depth+1, visit)
		}
	}
}
