package inputs

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxUndeclared bounds the additions of errors to the schema of a tool.
const maxUndeclared = 6

// issue is zod's description of a missing value (https://zod.dev, ZodIssue).
type issue struct {
	Code, Expected string
	Path           []any
}

// declare adds the properties that an error asks for to an empty schema, which some
// combinations of library versions publish, and to objects without declared members.
func (f *Form) declare(text string) {
	root, _ := f.root.(map[string]any)
	properties, _ := root["properties"].(map[string]any)
	empty := len(properties) == 0 || f.undeclared > 0
	if f.template != nil || f.undeclared+f.opened >= maxUndeclared || !empty && f.accepted.len() > 0 {
		return
	}
	root, added := Decode([]byte(canonical(f.root))).(map[string]any), false
	for _, each := range missingTypes(text) {
		if empty || each.opens(properties) {
			added = each.addTo(root) || added
		}
	}
	if !added {
		return
	}
	again := newForm(root, f.options)
	again.made, again.undeclared, again.opened = f.made, f.undeclared, f.opened+1
	if empty {
		again.undeclared, again.opened = f.undeclared+1, f.opened
	}
	*f = *again
}

// missingTypes are the issues in an error that say which type a place lacks.
func missingTypes(text string) []issue {
	at := strings.Index(text, "[")
	var issues []issue
	if at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&issues) != nil {
		return nil
	}
	return slices.DeleteFunc(issues[:min(len(issues), maxFields)], func(i issue) bool {
		return i.Code != "invalid_type" || len(i.Path) == 0 || len(i.Path) > maxDepth
	})
}

// opens reports whether an issue is about a member of an object that takes others than its schema has.
func (i issue) opens(properties map[string]any) bool {
	if len(i.Path) < 2 {
		return false
	}
	name, _ := i.Path[0].(string)
	member, isName := i.Path[1].(string)
	object, _ := properties[name].(map[string]any)
	members, _ := object["properties"].(map[string]any)
	_, known := members[member]
	return isName && !known && object["type"] == "object" && object["additionalProperties"] != false
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
	if schema["type"] == i.Expected || !slices.Contains([]string{"string", "number", "boolean", "array", "object"}, i.Expected) {
		return false
	}
	schema["type"] = i.Expected
	return true
}
