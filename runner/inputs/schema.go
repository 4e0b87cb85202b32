package inputs

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The bounds of one schema and of one set of arguments.
const (
	// budget bounds what a walk may spend: 16 for each value, 1 for each byte of text.
	budget = 1 << 16
	// maxDepth is the nesting of values, and of references and allOf in one schema.
	maxDepth = 8
	// maxItems is the length of an array, and the number of alternatives and of
	// members of an enum that are told apart.
	maxItems = 16
	// maxFields is the number of properties of one object.
	maxFields = 64
	// maxLength is the length of a string in bytes.
	maxLength = 4096
)

// allowance bounds the effort of one walk.
type allowance int

// spend takes from the allowance and reports whether there was enough.
func (a *allowance) spend(n int) bool {
	*a -= allowance(n)
	return *a >= 0
}

// resolver reads the schemas of one document.
type resolver struct {
	allowance
	root any
}

// flat resolves the reference of a schema and merges allOf into a copy of it.
// followed are the references on the way. What is no schema is an empty one:
// everything fits it; nothing fits false.
func (r *resolver) flat(schema any, depth int) (s map[string]any, followed []string) {
	flat := map[string]any{}
	if schema == false {
		return map[string]any{"not": flat}, nil
	}
	s, _ = schema.(map[string]any)
	if s == nil || depth > maxDepth || !r.spend(16+len(s)) {
		return flat, nil
	}
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := s[keyword].(string); ok {
			target, more := r.flat(r.resolve(ref), depth+1)
			r.merge(flat, target)
			followed = append(append(followed, ref), more...)
		}
	}
	for _, branch := range list(s["allOf"], maxItems) {
		part, more := r.flat(branch, depth+1)
		r.merge(flat, part)
		followed = append(followed, more...)
	}
	r.merge(flat, s)
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf"} {
		delete(flat, keyword)
	}
	return flat, followed
}

// unescape is RFC 6901, 4.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// resolve follows a local reference (RFC 6901: "#/$defs/note") or the name of an
// anchor ("#note"); nil when it leads nowhere.
func (r *resolver) resolve(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || len(pointer) > maxLength {
		return nil
	}
	if pointer != "" && pointer[0] != '/' {
		return r.anchor(pointer)
	}
	at := r.root
	for i, step := range strings.Split(pointer, "/") {
		if i == 0 {
			continue // the empty text before the first slash
		}
		step = unescape.Replace(step)
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

// anchor looks for a named schema where they are kept.
func (r *resolver) anchor(name string) any {
	root, _ := r.root.(map[string]any)
	for _, keyword := range []string{"$defs", "definitions"} {
		defs, _ := root[keyword].(map[string]any)
		if !r.spend(len(defs)) {
			return nil
		}
		for _, each := range defs {
			s, _ := each.(map[string]any)
			if s["$anchor"] == name || s["$dynamicAnchor"] == name || s["$id"] == "#"+name {
				return s
			}
		}
	}
	return r.root // "$dynamicRef": "#meta" is the schema itself
}

// merge adds the keywords of from to into so that what fits the sum fits both,
// as far as that can be said in one schema; otherwise those of from win. It costs
// what it copies.
func (r *resolver) merge(into, from map[string]any) {
	for key, value := range from {
		before, has := into[key]
		if !has {
			into[key] = value
			continue
		}
		switch key {
		case "properties":
			into[key] = r.both(before, value)
		case "required", "examples":
			a, b := list(before, maxFields), list(value, maxFields)
			if r.spend(len(a) + len(b)) {
				into[key] = slices.Concat(a, b)
			}
		case "enum":
			into[key] = r.common(before, value)
		case "type":
			into[key] = commonType(before, value)
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			into[key] = tighter(before, value, math.Max)
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			into[key] = tighter(before, value, math.Min)
		default:
			into[key] = value
		}
	}
}

// both has the properties of both; one that they share has to fit both.
func (r *resolver) both(before, value any) any {
	a, _ := before.(map[string]any)
	b, _ := value.(map[string]any)
	if len(a) == 0 || !r.spend(len(a)+len(b)) {
		return value
	}
	sum := maps.Clone(a)
	for name, schema := range b {
		if other, shared := sum[name]; shared {
			schema = map[string]any{"allOf": []any{other, schema}}
		}
		sum[name] = schema
	}
	return sum
}

// common are the members of both enums.
func (r *resolver) common(before, value any) any {
	a, _ := before.([]any)
	b, _ := value.([]any)
	if !r.spend(len(a) + len(b)) {
		return value
	}
	known := map[string]bool{}
	for _, v := range a {
		known[canonical(v)] = true
	}
	kept := []any{}
	for _, v := range b {
		if known[canonical(v)] {
			kept = append(kept, v)
		}
	}
	return kept
}

// commonType are the types that both name.
func commonType(before, value any) any {
	a, b := types(before), types(value)
	var kept []any
	for _, t := range b {
		switch {
		case slices.Contains(a, t), t == "integer" && slices.Contains(a, "number"):
			kept = append(kept, t)
		case t == "number" && slices.Contains(a, "integer"):
			kept = append(kept, "integer")
		}
	}
	if kept == nil {
		return value
	}
	return kept
}

// types are the names in "type", at most the seven that there are.
func types(v any) []string {
	if t, ok := v.(string); ok {
		return []string{t}
	}
	var names []string
	for _, each := range list(v, maxItems) {
		if t, ok := each.(string); ok && !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	return names
}

func tighter(before, value any, choose func(a, b float64) float64) any {
	a, okA := float(before)
	b, okB := float(value)
	if okA && (!okB || choose(a, b) == a) {
		return before
	}
	return value
}

// typeOf is the type of a flattened schema: the first that it names, or the one
// that its keywords speak of; "" when nothing says.
func typeOf(s map[string]any) string {
	if names := types(s["type"]); len(names) > 0 {
		return names[0]
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

// list is an array, cut after most members.
func list(v any, most int) []any {
	members, _ := v.([]any)
	return members[:min(len(members), most)]
}

// texts returns a list of texts; false for any other value.
func texts(v any) (all []string, ok bool) {
	for _, each := range list(v, maxFields) {
		if text, is := each.(string); is {
			all = append(all, text)
		}
	}
	_, ok = v.([]any)
	return all, ok
}

// canonical is a value as text, to compare by; numbers as they are written.
func canonical(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// float reads a number; not ok for anything else, or beyond a double.
func float(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// integer reads a length: 0 to maxLength.
func integer(v any) (int, bool) {
	f, ok := float(v)
	if !ok || f < 0 {
		return 0, false
	}
	return int(math.Min(f, maxLength)), true
}
