package inputs

import (
	"encoding/json"
	"maps"
	"strings"
)

// maxUndeclared is how often the errors of one tool may add to its schema.
const maxUndeclared = 6

// issue is how zod says what it misses (https://zod.dev, ZodIssue).
type issue struct {
	Code, Expected string
	Path           []any
}

// declare takes what a tool without properties in its schema asks for in an error, as if
// the schema said so: libraries of two versions publish an empty schema of a tool that
// goes by another.
func (f *Form) declare(text string) {
	if properties, _ := f.root.(map[string]any)["properties"].(map[string]any); len(properties) > 0 && f.undeclared == 0 {
		return
	}
	at := strings.Index(text, "[")
	var issues []issue
	if f.template != nil || f.undeclared >= maxUndeclared || at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&issues) != nil {
		return
	}
	root, added := Decode([]byte(canonical(f.root))).(map[string]any), false
	for _, each := range issues[:min(len(issues), maxFields)] {
		if each.Code == "invalid_type" && len(each.Path) > 0 && len(each.Path) <= maxDepth {
			added = each.addTo(root) || added
		}
	}
	if !added {
		return
	}
	again := newForm(root, f.options)
	again.made, again.undeclared = f.made, f.undeclared+1
	*f = *again
}

// addTo enters the type that is missed at the path of an issue; false when the path leads
// nowhere, or the type is known.
func (i issue) addTo(schema map[string]any) bool {
	for _, step := range i.Path {
		name, isName := step.(string)
		within := "items"
		if isName {
			schema["type"] = "object"
			properties, _ := schema["properties"].(map[string]any)
			if properties == nil {
				properties = map[string]any{}
			}
			schema["properties"] = properties
			required, _ := schema["required"].([]any)
			if _, known := properties[name]; !known {
				schema["required"] = append(required, name)
			}
			schema, within = properties, name
		} else {
			schema["type"] = "array"
			schema["minItems"] = json.Number("1")
		}
		inner, _ := schema[within].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		schema[within] = inner
		schema = inner
	}
	before := maps.Clone(schema)
	switch i.Expected {
	case "string", "number", "boolean", "array", "object":
		schema["type"] = i.Expected
	default:
		return false
	}
	return before["type"] != schema["type"]
}
