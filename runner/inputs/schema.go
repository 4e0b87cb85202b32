package inputs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The bounds of one set of arguments.
const (
	// budget is what a walk may spend: 16 for each value, 1 for each byte of text.
	budget = 1 << 16
	// maxDepth is the nesting of values, and of references and branches in one
	// schema.
	maxDepth = 8
	// maxItems is the length of an array and the number of arguments of a prompt.
	maxItems = 16
	// maxLength is the length of a string in bytes.
	maxLength = 4096
)

type generator struct {
	options Options
	root    map[string]any
	budget  int
}

// spend takes from the budget and tells whether there was enough.
func (g *generator) spend(n int) bool {
	g.budget -= n
	return g.budget >= 0
}

// flatten resolves the reference of a schema and merges allOf and the first
// branch of anyOf and oneOf that is not null into a copy of it. Anything that
// is no object schema is an empty one: everything fits it.
func (g *generator) flatten(schema any, depth int) map[string]any {
	flat := map[string]any{}
	s, _ := schema.(map[string]any)
	if s == nil || depth > maxDepth || !g.spend(16+len(s)) {
		return flat
	}
	if ref, ok := s["$ref"].(string); ok {
		g.merge(flat, g.flatten(g.resolve(ref), depth+1))
	}
	all, _ := s["allOf"].([]any)
	for i, branch := range all {
		if i == maxItems {
			break
		}
		g.merge(flat, g.flatten(branch, depth+1))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		branches, _ := s[key].([]any)
		if branch, ok := firstUseful(branches); ok {
			g.merge(flat, g.flatten(branch, depth+1))
		}
	}
	g.merge(flat, s)
	return flat
}

// resolve follows a local reference (RFC 6901: "#/$defs/note"); nil when it
// leads nowhere.
func (g *generator) resolve(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || len(pointer) > maxLength {
		return nil
	}
	var at any = g.root
	for i, step := range strings.Split(pointer, "/") {
		if i == 0 {
			continue // the empty text before the first slash
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(v) {
				return nil
			}
			at = v[index]
		default:
			return nil
		}
	}
	return at
}

// firstUseful is the first branch that is an object schema and not for null.
func firstUseful(branches []any) (any, bool) {
	for _, branch := range branches {
		if s, ok := branch.(map[string]any); ok && s["type"] != "null" {
			return branch, true
		}
	}
	return nil, false
}

// merge adds the keywords of from to into; those of from win, except that
// properties and required lists add up, which costs as many as there are.
func (g *generator) merge(into, from map[string]any) {
	for key, value := range from {
		switch key {
		case "properties":
			before, _ := into[key].(map[string]any)
			added, _ := value.(map[string]any)
			if len(before) == 0 {
				into[key] = value
			} else if g.spend(len(before) + len(added)) {
				sum := maps.Clone(before)
				maps.Copy(sum, added)
				into[key] = sum
			}
		case "required":
			before, _ := into[key].([]any)
			added, _ := value.([]any)
			if g.spend(len(before)) {
				into[key] = slices.Concat(before, added)
			}
		default:
			into[key] = value
		}
	}
}

// typeOf is the type of a flattened schema: the first that is not null, or the
// one that its keywords speak of; "" when nothing says.
func typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		for _, each := range t {
			if name, ok := each.(string); ok && name != "null" {
				return name
			}
		}
	}
	for _, hint := range []struct{ keyword, of string }{
		{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"prefixItems", "array"},
		{"minItems", "array"}, {"pattern", "string"}, {"minLength", "string"}, {"maxLength", "string"},
		{"format", "string"}, {"minimum", "number"}, {"maximum", "number"}, {"multipleOf", "number"},
	} {
		if _, ok := s[hint.keyword]; ok {
			return hint.of
		}
	}
	return ""
}
