package inputs

import (
	"math"
	"slices"
	"unicode/utf8"
)

// verdict says whether a value fits a schema. It is ordered: the verdict for all of
// several schemas is the least of theirs, that for any of them is the greatest.
type verdict int8

const (
	no verdict = iota
	maybe
	yes
)

// checker checks values against schemas, for the keywords by which arguments are
// made. Other keywords give maybe, and so does everything once the allowance is spent.
type checker struct {
	resolver
	// short is the verdict on a text, number or array of the right type that breaks
	// a pattern, a bound or a multiple.
	short verdict
}

// fits reports whether the arguments fit the schema, or could with other texts and
// numbers in the same places.
func fits(root, value any, short verdict) (found verdict, cost int) {
	c := checker{resolver: resolver{root: root, allowance: 2 * budget}, short: short}
	found = c.check(root, value, 0)
	return found, 2*budget - int(c.allowance)
}

func (c *checker) check(schema, value any, depth int) verdict {
	if schema == false {
		return no
	}
	s, _ := schema.(map[string]any)
	if s == nil {
		return yes
	}
	if depth > 4*maxDepth || !c.spend(16+len(s)) {
		return maybe
	}
	return min(c.plain(s, value), c.combined(s, value, depth+1), c.content(s, value, depth+1))
}

// plain checks the keywords without subschemas.
func (c *checker) plain(s map[string]any, value any) verdict {
	if names := types(s["type"]); len(names) > 0 && !slices.ContainsFunc(names, func(t string) bool { return isType(value, t) }) {
		return no
	}
	if fixed, ok := s["const"]; ok && !equal(fixed, value) {
		return no
	}
	if members, ok := s["enum"].([]any); ok {
		if !c.spend(4 * len(members)) {
			return maybe
		}
		if !slices.ContainsFunc(members, func(v any) bool { return equal(v, value) }) {
			return no
		}
	}
	switch v := value.(type) {
	case string:
		return c.text(s, v)
	case []any:
		return c.sized(s, "minItems", "maxItems", float64(len(v)))
	case map[string]any:
		return c.sized(s, "minProperties", "maxProperties", float64(len(v)))
	}
	if n, ok := float(value); ok {
		return c.number(s, n)
	}
	return yes
}

func (c *checker) text(s map[string]any, text string) verdict {
	if !c.spend(len(text)) {
		return maybe
	}
	sized := c.sized(s, "minLength", "maxLength", float64(utf8.RuneCountInString(text)))
	if pattern, ok := s["pattern"].(string); ok && sized > no {
		compiled, ok := c.compile(pattern)
		if !ok {
			return maybe
		}
		if !compiled.MatchString(text) {
			return c.short
		}
	}
	return sized
}

func (c *checker) number(s map[string]any, n float64) verdict {
	low, hasLow := float(s["exclusiveMinimum"])
	high, hasHigh := float(s["exclusiveMaximum"])
	switch {
	case hasLow && hasHigh && low >= high:
		return no
	case hasLow && n <= low, hasHigh && n >= high:
		return c.short
	}
	if multiple, ok := float(s["multipleOf"]); ok && multiple > 0 {
		if ratio := n / multiple; math.Abs(ratio-math.Round(ratio)) > 1e-9 {
			return c.short
		}
	}
	return c.sized(s, "minimum", "maximum", n)
}

// sized checks two bounds; nothing fits where they contradict each other.
func (c *checker) sized(s map[string]any, least, most string, n float64) verdict {
	low, hasLow := float(s[least])
	high, hasHigh := float(s[most])
	switch {
	case hasLow && hasHigh && low > high:
		return no
	case hasLow && n < low, hasHigh && n > high:
		return c.short
	}
	return yes
}

// combined checks references and the keywords that combine schemas.
func (c *checker) combined(s map[string]any, value any, depth int) verdict {
	result := yes
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := s[keyword].(string); ok {
			result = min(result, c.check(c.resolve(ref), value, depth))
		}
	}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		if result == no {
			return no
		}
		result = min(result, c.check(part, value, depth))
	}
	if branches, ok := s["anyOf"].([]any); ok && result > no {
		best, _ := c.among(branches, value, depth)
		result = min(result, best)
	}
	if branches, ok := s["oneOf"].([]any); ok && result > no {
		best, sure := c.among(branches, value, depth)
		if sure > 1 {
			best = c.short
		}
		result = min(result, best)
	}
	if not, ok := s["not"]; ok && result > no {
		result = min(result, yes-c.check(not, value, depth))
	}
	return min(result, c.conditional(s, value, depth))
}

// among returns the best verdict, and how many are yes.
func (c *checker) among(branches []any, value any, depth int) (best verdict, sure int) {
	for _, branch := range branches {
		found := c.check(branch, value, depth)
		best = max(best, found)
		if found == yes {
			sure++
		}
	}
	return best, sure
}

func (c *checker) conditional(s map[string]any, value any, depth int) verdict {
	condition, ok := s["if"]
	if !ok {
		return yes
	}
	branch := func(keyword string) verdict {
		if schema, ok := s[keyword]; ok {
			return c.check(schema, value, depth)
		}
		return yes
	}
	switch c.check(condition, value, depth) {
	case yes:
		return branch("then")
	case no:
		return branch("else")
	}
	return min(maybe, max(branch("then"), branch("else")))
}

// content checks the members of an object or an array.
func (c *checker) content(s map[string]any, value any, depth int) verdict {
	switch v := value.(type) {
	case map[string]any:
		if !c.spend(8 * len(v)) {
			return maybe
		}
		return min(c.members(s, v, depth), c.dependent(s, v, depth))
	case []any:
		return c.items(s, v, depth)
	}
	return yes
}

func (c *checker) members(s map[string]any, object map[string]any, depth int) verdict {
	required, _ := s["required"].([]any)
	for _, entry := range required {
		if name, ok := entry.(string); ok {
			if _, has := object[name]; !has {
				return no
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	extra, limited := s["additionalProperties"]
	result := yes
	for name, value := range object {
		if result == no {
			break
		}
		schema, known := properties[name]
		if known {
			result = min(result, c.check(schema, value, depth))
		}
		for pattern, schema := range patterns {
			if compiled, ok := c.compile(pattern); ok && compiled.MatchString(name) {
				known = true
				result = min(result, c.check(schema, value, depth))
			}
		}
		if !known && limited {
			result = min(result, c.check(extra, value, depth))
		}
	}
	return result
}

// dependent checks dependentRequired and dependentSchemas, and dependencies,
// which was both (draft-07).
func (c *checker) dependent(s map[string]any, object map[string]any, depth int) verdict {
	result := yes
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		dependencies, _ := s[keyword].(map[string]any)
		for name := range object {
			switch wanted := dependencies[name].(type) {
			case []any:
				result = min(result, c.members(map[string]any{"required": wanted}, object, depth))
			case map[string]any, bool:
				result = min(result, c.check(wanted, object, depth))
			}
		}
	}
	return result
}

func (c *checker) items(s map[string]any, array []any, depth int) verdict {
	prefix, items := tuple(s)
	result := yes
	for i, value := range array {
		schema := items
		if i < len(prefix) {
			schema = prefix[i]
		}
		if result = min(result, c.check(schema, value, depth)); result == no {
			return no
		}
	}
	if s["uniqueItems"] == true && c.spend(16*len(array)) {
		seen := map[string]bool{}
		for _, value := range array {
			seen[canonical(value)] = true
		}
		if len(seen) < len(array) {
			return min(result, c.short)
		}
	}
	return result
}

// tuple returns the schemas of the first items, and of the items after them.
func tuple(s map[string]any) (prefix []any, items any) {
	if draft07, ok := s["items"].([]any); ok {
		return draft07, s["additionalItems"]
	}
	prefix, _ = s["prefixItems"].([]any)
	return prefix, s["items"]
}

func isType(value any, name string) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	default:
		n, ok := float(v)
		return ok && (name == "number" || name == "integer" && n == math.Trunc(n))
	}
}

func equal(a, b any) bool {
	if text, ok := a.(string); ok { // there may be very many of them in an enum
		other, same := b.(string)
		return same && text == other
	}
	x, okX := float(a)
	y, okY := float(b)
	if okX && okY {
		return x == y
	}
	return canonical(a) == canonical(b)
}
