package scope

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// The bounds of what is read of one capability; manifests are hostile.
const (
	maxText   = 16 << 10 // bytes of one text
	maxFields = 512
	maxDepth  = 8 // nesting of a schema
)

type field struct {
	name string
	text string
	// identifier: the text is a name ("fetch_url") and no sentence.
	identifier bool
	// promises: what the text promises counts. A parameter's description
	// speaks of the parameter.
	promises bool
}

// claims holds the values of hints that promise something.
var claims = map[string]struct {
	value string
	sense sense
}{
	"readOnlyHint": {"true", readOnly}, "destructiveHint": {"false", additive}, "idempotentHint": {"true", idempotent}, "openWorldHint": {"false", offline},
}

// hints returns the hints of a tool that promise something.
func hints(of report.Capability, item manifest.Item) map[string]Clause {
	if of.Kind != report.CapabilityTool {
		return nil
	}
	all, annotations := map[string]Clause{}, manifest.Object(item.Members["annotations"])
	for name, claim := range claims {
		if string(annotations[name]) == claim.value {
			all[name] = Clause{Source: report.ScopeAnnotation, Capability: of, Field: "annotations." + name, Quote: name + ": " + claim.value}.in(claim.sense)
		}
	}
	return all
}

func fields(item manifest.Item) []field {
	all := []field{
		{name: "name", text: item.Name, identifier: true},
		{name: "title", text: item.Title, promises: true},
		{name: "description", text: item.Description, promises: true},
	}
	annotations := manifest.Object(item.Members["annotations"])
	all = append(all, field{name: "annotations.title", text: manifest.Text(annotations["title"]), promises: true})
	if name := manifest.Text(item.Members["name"]); name != item.Name { // a resource has a uri and a name
		all = append(all, field{name: "name", text: name, identifier: true})
	}
	all = properties(all, item.Members["inputSchema"], "inputSchema", 0)
	var arguments []json.RawMessage
	if json.Unmarshal(item.Members["arguments"], &arguments) == nil {
		for _, argument := range arguments {
			members := manifest.Object(argument)
			all = append(all,
				field{name: "arguments", text: manifest.Text(members["name"]), identifier: true},
				field{name: "arguments", text: manifest.Text(members["description"])})
		}
	}
	return all[:min(len(all), maxFields)]
}

// properties adds the names and descriptions of a schema's properties.
func properties(all []field, schema json.RawMessage, path string, depth int) []field {
	if depth >= maxDepth || len(all) >= maxFields {
		return all
	}
	members := manifest.Object(schema)
	of := manifest.Object(members["properties"])
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if len(all) >= maxFields {
			return all
		}
		at := path + "." + name
		property := manifest.Object(of[name])
		all = append(all, field{name: at, text: name, identifier: true},
			field{name: at, text: manifest.Text(property["description"])})
		all = properties(all, of[name], at, depth+1)
		all = properties(all, property["items"], at, depth+1)
	}
	return all
}
