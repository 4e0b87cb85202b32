package inputs

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// value makes a value for one schema; name is that of the property it is for.
func (g *generator) value(schema any, name string, depth int) any {
	s := g.flatten(schema, 0)
	if given, ok := g.proposed(s); ok {
		return given
	}
	if !g.spend(16) {
		return nil
	}
	switch typeOf(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, name, depth)
	case "integer":
		return number(s, name, true)
	case "number":
		return number(s, name, false)
	case "boolean":
		return true
	case "null":
		return nil
	default:
		return g.text(s, name)
	}
}

// proposed is the value that the schema itself names: a mandatory one as it is,
// a text among the others relocated.
func (g *generator) proposed(s map[string]any) (any, bool) {
	if v, ok := mandatory(s); ok {
		return v, g.affordable(v)
	}
	v := suggested(s)
	if text, is := v.(string); is {
		v = g.options.relocate(text)
	}
	return v, v != nil && g.affordable(v)
}

// mandatory is the value of const, or the first of enum that is not null.
func mandatory(s map[string]any) (any, bool) {
	if v, ok := s["const"]; ok {
		return v, true
	}
	list, _ := s["enum"].([]any)
	i := slices.IndexFunc(list, func(v any) bool { return v != nil })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// suggested is the default, or else the first example; nil when there is none
// that says something.
func suggested(s map[string]any) any {
	for _, keyword := range []string{"default", "examples", "example"} {
		v := s[keyword]
		if list, ok := v.([]any); ok && keyword == "examples" {
			v = nil
			if len(list) > 0 {
				v = list[0]
			}
		}
		if v != nil && v != "" {
			return v
		}
	}
	return nil
}

// affordable charges a value that is taken over whole.
func (g *generator) affordable(v any) bool {
	if g.budget < 0 {
		return false
	}
	text, err := json.Marshal(v)
	return err == nil && g.spend(len(text))
}

// object fills in the required properties, and of the optional ones those with
// a proposed value or, with Options.All, every one.
func (g *generator) object(s map[string]any, depth int) any {
	out := map[string]any{}
	if depth >= maxDepth {
		return out
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, entry := range required {
		name, ok := entry.(string)
		if _, done := out[name]; !ok || done || !g.spend(16+len(name)) {
			continue
		}
		out[name] = g.value(properties[name], name, depth+1)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if _, done := out[name]; done || !g.spend(16+len(name)) {
			continue
		}
		if g.options.All {
			out[name] = g.value(properties[name], name, depth+1)
		} else if v, ok := g.proposed(g.flatten(properties[name], 0)); ok {
			out[name] = v
		}
	}
	return out
}

// array makes the fewest items that are allowed, but one where it may.
func (g *generator) array(s map[string]any, name string, depth int) any {
	out := []any{}
	if depth >= maxDepth {
		return out
	}
	prefix, _ := s["prefixItems"].([]any)
	items := s["items"]
	if tuple, ok := items.([]any); ok { // draft-07
		prefix, items = tuple, s["additionalItems"]
	}
	least, ok := integer(s["minItems"])
	if !ok {
		least = max(1, len(prefix))
	}
	if most, ok := integer(s["maxItems"]); ok {
		least = min(least, most)
	}
	least = min(least, maxItems)
	for i := 0; i < least && g.spend(16); i++ {
		schema := items
		if i < len(prefix) {
			schema = prefix[i]
		}
		v := g.value(schema, name, depth+1)
		if text, ok := v.(string); ok && i > 0 && s["uniqueItems"] == true {
			if _, listed := g.flatten(schema, 0)["enum"]; !listed {
				v = text + strconv.Itoa(i+1)
			}
		}
		out = append(out, v)
	}
	return out
}

// number picks a small number that the bounds allow.
func number(s map[string]any, name string, whole bool) any {
	low, high := bounds(s, whole)
	v := math.Min(math.Max(numberHint(name), low), high)
	if multiple, ok := float(s["multipleOf"]); ok && multiple > 0 {
		if up := math.Ceil(v/multiple) * multiple; up <= high {
			v = up
		}
	}
	if whole {
		if v = math.Ceil(v); v > high {
			v = math.Floor(high)
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}

// bounds are the least and the greatest number allowed; exclusive ones are left
// by 1 or, where fractions are allowed, by a half.
func bounds(s map[string]any, whole bool) (low, high float64) {
	step := 1.0
	if !whole {
		step = 0.5
	}
	low, high = math.Inf(-1), math.Inf(1)
	if n, ok := float(s["minimum"]); ok {
		low = n
	}
	if n, ok := float(s["exclusiveMinimum"]); ok {
		low = math.Max(low, n+step)
	}
	if n, ok := float(s["maximum"]); ok {
		high = n
	}
	if n, ok := float(s["exclusiveMaximum"]); ok {
		high = math.Min(high, n-step)
	}
	if low > high { // closer together than a step
		low, high = (low+high)/2, (low+high)/2
	}
	return low, high
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
