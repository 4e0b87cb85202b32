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

// proposed is the value that the schema itself names. Texts that are not
// mandatory are relocated.
func (g *generator) proposed(s map[string]any) (any, bool) {
	if v, ok := s["const"]; ok {
		return v, g.affordable(v)
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		for _, v := range list {
			if v != nil {
				return v, g.affordable(v)
			}
		}
	}
	v, ok := s["default"]
	for _, keyword := range []string{"examples", "example"} {
		if ok && v != nil && v != "" {
			break
		}
		switch of := s[keyword].(type) {
		case []any:
			if len(of) > 0 {
				v, ok = of[0], true
			}
		case nil:
		default:
			v, ok = of, true
		}
	}
	if text, is := v.(string); is {
		if text == "" {
			return nil, false
		}
		v = g.options.relocate(text)
	}
	return v, ok && v != nil && g.affordable(v)
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
	v := numberHint(name)
	step := 1.0
	if !whole {
		step = 0.5
	}
	low, high := math.Inf(-1), math.Inf(1)
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
	v = math.Min(math.Max(v, low), high)
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
