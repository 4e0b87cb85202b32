package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

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
