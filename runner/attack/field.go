package attack

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// field is a place in the arguments that takes a text, or a number.
type field struct {
	// name is the path as people write it, steps the same as keys and indexes.
	name  string
	steps []any
	// value is what stands there in the honest call; "" where nothing does.
	value string
	// text: it is declared as a text, and takes any.
	text bool
	// before and behind are what stays of the value where it becomes a path, ending is how
	// the name of a file is to end then.
	before, behind, ending string
}

// maxDepth is how deep in the arguments places are looked for.
const maxDepth = 4

// property is what a schema says of a place.
type property struct {
	Type any               `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// fieldsOf are the places of a target: those of the honest call, texts first, and then the
// optional ones that it leaves out.
func fieldsOf(t Target, seen Seen) []field {
	honest, _ := inputs.Decode(t.Honest).(map[string]any)
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // what is no schema has no properties
	var all []field
	walk(honest, "", nil, func(f field) {
		name, _ := f.steps[0].(string)
		if declared, has := schema.Properties[name]; has && len(f.steps) == 1 {
			f.text = f.text && declares(declared).free()
		}
		all = append(all, f)
	})
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if _, given := honest[name]; given {
			continue
		}
		if declared := declares(schema.Properties[name]); declared.scalar() {
			all = append(all, field{name: name, steps: []any{name}, text: declared.free()})
		}
	}
	slices.SortStableFunc(all, func(a, b field) int { return rank(a) - rank(b) })
	all = all[:min(len(all), maxFields)]
	for i := range all {
		all[i] = all[i].frame(t.Of, seen)
	}
	return all
}

// rank orders places: what is a text before what is not, what was given before what was not.
func rank(f field) int {
	r := 0
	if !f.text {
		r++
	}
	if f.value == "" {
		r += 2
	}
	return r
}

func declares(schema json.RawMessage) (p property) {
	_ = json.Unmarshal(schema, &p) // what is no schema declares nothing
	return p
}

// scalar reports whether a place takes a text or a number.
func (p property) scalar() bool {
	return p.Type == "string" || p.Type == "number" || p.Type == "integer"
}

// free reports whether a place takes any text.
func (p property) free() bool { return (p.Type == "string" || p.Type == nil) && len(p.Enum) == 0 }

// walk calls a function with each text, number and truth value in arguments.
func walk(value any, name string, steps []any, do func(field)) {
	if len(steps) > maxDepth {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			below := key
			if name != "" {
				below = name + "." + key
			}
			walk(value[key], below, append(slices.Clone(steps), key), do)
		}
	case []any:
		if len(value) > 0 { // one element is taken like another
			walk(value[0], name+"[0]", append(slices.Clone(steps), 0), do)
		}
	case string:
		if len(steps) > 0 && len(value) <= maxFieldText {
			do(field{name: name, steps: steps, value: value, text: true})
		}
	case json.Number:
		if len(steps) > 0 {
			do(field{name: name, steps: steps, value: value.String()})
		}
	case bool:
		if len(steps) > 0 {
			do(field{name: name, steps: steps, value: strconv.FormatBool(value)})
		}
	}
}

// set returns arguments with another text at a place; false where there is no such place.
func (f field) set(arguments json.RawMessage, text string) (json.RawMessage, bool) {
	root, isObject := inputs.Decode(arguments).(map[string]any)
	if !isObject {
		return nil, false
	}
	if !put(root, f.steps, text) {
		return nil, false
	}
	changed, err := encode(root)
	return changed, err == nil
}

// put sets a value at a place below another.
func put(in any, steps []any, value string) bool {
	for i, step := range steps {
		last := i == len(steps)-1
		switch at := in.(type) {
		case map[string]any:
			key, isKey := step.(string)
			if !isKey {
				return false
			}
			if last {
				at[key] = value
				return true
			}
			in = at[key]
		case []any:
			index, isIndex := step.(int)
			if !isIndex || index >= len(at) {
				return false
			}
			if last {
				at[index] = value
				return true
			}
			in = at[index]
		default:
			return false
		}
	}
	return false
}

// encode leaves "<", ">" and "&" as they are: servers that look at the raw text see what a
// model would send.
func encode(value any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}
