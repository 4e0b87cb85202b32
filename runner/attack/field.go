package attack

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// field is a place in the arguments that takes a text, or a number.
type field struct {
	// name is the path as people write it, steps the same as keys and indexes.
	name  string
	steps []any
	// value holds what stands there in the honest call; "" where nothing does.
	value string
	// ahead are elements of a list that come before it where the list is shorter, lacking: the
	// honest call leaves it out, and value is what its description has for an example.
	ahead   []string
	lacking bool
	// onlyText: it is declared as a text, and as nothing else. text: it takes any text. number: it is declared as a number.
	onlyText, text, number bool
	// choice: it is declared as one of some texts, which the server may not check.
	choice bool
	// free: its key is one of those that an object takes which declares none.
	free bool
	// next: it is the element behind those of the honest call, or of an example.
	next bool
	// item: it is the last of several in one text, which stand before it.
	item bool
	// said is its description.
	said string
	// variable is the name of the variable of a template that it is; "" elsewhere.
	variable string
	// before and behind are what stays of the value where it is changed, ending is how
	// the name of a file is to end that it becomes.
	before, behind, ending string
	// planted is the name of the file that it leads to outside, directory that it is the name of
	// the directory there in which the server looks for that.
	// unmade: the attempt leads to a file, or directory, that is not there.
	planted           string
	directory, unmade bool
	// dir is the directory that the honest value was joined to, or lies in; "" if unknown.
	dir string
}

// maxDepth is how deep in the arguments places are looked for.
const maxDepth = 4

// fieldsOf are the places of a target: those of the honest call, texts first, and then the
// optional ones that it leaves out.
func fieldsOf(t Target, seen Seen, dirs []string) []field {
	honest, _ := inputs.Decode(t.Honest).(map[string]any)
	var all []field
	if t.Of.Kind == report.CapabilityResourceTemplate {
		uri, _ := honest["uri"].(string)
		all = variables(t.Of.Name, uri)
	}
	if t.Of.Kind == report.CapabilityResource {
		all = fixed(t.Of.Name)
	}
	if len(all) == 0 {
		s := schemaOf(t.Schema)
		walk(honest, "", nil, func(f field) {
			declared := s.at(f.steps)
			f.text, f.number = f.text && declared.free(), declared.has("number", "integer")
			if last := len(f.steps) - 1; last > 0 {
				holds := s.at(f.steps[:last])
				f.free = len(holds.Properties) == 0
				f = f.following(holds.list())
			}
			f = f.of(declared)
			all = append(all, f)
			if f.text && !f.item && commas.MatchString(f.said) && bare.MatchString(f.value) {
				f.before, f.item = f.value+",", true
				f.value = f.before + f.value
				all = append(all, f)
			}
		})
		s.lacking(honest, func(f field) { all = append(all, f) })
	}
	slices.SortStableFunc(all, func(a, b field) int { return rank(a) - rank(b) })
	all = all[:min(len(all), maxFields)]
	for i := range all {
		all[i] = all[i].frame(seen, dirs)
	}
	return all
}

// rank orders places: what is a text before what is not, what was given before what was not.
func rank(f field) int {
	r := 0
	if !f.text {
		r++
	}
	if f.value == "" || f.lacking {
		r += 2
	}
	if f.next || f.item {
		r += 4
	}
	return r
}

// place tells a field from the others of the same capability.
func (f field) place() string {
	if f.item {
		return f.name + "\x00,"
	}
	return f.name + "\x00" + f.variable
}

// walk calls a function with each text, number and truth value in arguments.
func walk(value any, name string, steps []any, do func(field)) {
	if len(steps) > maxDepth {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			walk(value[key], below(name, key), append(slices.Clone(steps), key), do)
		}
	case []any:
		if len(value) > 0 {
			walkList(value, name, steps, do)
		}
	case string:
		if len(steps) > 0 && len(value) <= maxFieldText {
			walkText(value, name, steps, do)
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

// inJSON is the step from a text to what it says in JSON.
type inJSON struct{}

// several are texts that have the names of several things, with commas between them.
var several = lazyregexp.New(`^[\w./@+-]{1,64}(?:, ?[\w./@+-]{1,64}){1,15}$`)

// commas are descriptions of such texts, whatever the honest call has.
var commas = lazyregexp.New(`(?i)\bcomma`)

// walkText calls it with a text, and with the places in one that is itself JSON, or a list: whoever
// takes that apart may look at the whole, or at the first, and not at each.
func walkText(value, name string, steps []any, do func(field)) {
	do(field{name: name, steps: steps, value: value, text: true})
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		if json.Valid([]byte(value)) {
			walk(inputs.Decode([]byte(value)), name, append(slices.Clone(steps), inJSON{}), do)
		}
	} else if several.MatchString(value) {
		last := strings.LastIndexByte(value, ',') + 1
		do(field{name: name, steps: steps, value: value, before: value[:last], text: true, item: true})
	}
}

// walkList calls it with the places of a list: one element is taken like another, but not like the first.
func walkList(value []any, name string, steps []any, do func(field)) {
	walk(value[0], name+"[0]", append(slices.Clone(steps), 0), do)
	if first, isText := value[0].(string); isText && len(steps) > 0 && len(first) <= maxFieldText {
		do(field{name: name + "[" + strconv.Itoa(len(value)) + "]", steps: append(slices.Clone(steps), len(value)), value: first, text: true, next: true})
	}
}

func below(name, key string) string { return strings.TrimPrefix(name+"."+key, ".") }

// set returns arguments with another value at a place, a text or an object as JSON; false where there can be no such place.
func (f field) set(arguments json.RawMessage, value any) (json.RawMessage, bool) {
	root, isObject := inputs.Decode(arguments).(map[string]any)
	if !isObject {
		return nil, false
	}
	var changedRoot any = root
	for i := range len(f.ahead) + 1 {
		at, each, ok := slices.Clone(f.steps), value, false
		if i < len(f.ahead) {
			at[len(at)-1], each = i, f.ahead[i]
		}
		if changedRoot, ok = put(changedRoot, at, each); !ok {
			return nil, false
		}
	}
	changed, err := encode(changedRoot)
	return changed, err == nil
}

// put returns a value with another at a place below it, and makes the objects and lists on
// the way there that are missing.
func put(in any, steps []any, value any) (any, bool) {
	if len(steps) == 0 {
		return value, true
	}
	switch step := steps[0].(type) {
	case inJSON:
		text, _ := in.(string)
		inner, ok := put(inputs.Decode([]byte(text)), steps[1:], value)
		changed, err := encode(inner)
		return string(changed), ok && err == nil
	case string:
		at, isObject := in.(map[string]any)
		if in == nil {
			at = map[string]any{}
		} else if !isObject {
			return nil, false
		}
		inner, ok := put(at[step], steps[1:], value)
		at[step] = inner
		return at, ok
	case int:
		at, isList := in.([]any)
		if in != nil && !isList || step > len(at) {
			return nil, false
		}
		if step == len(at) {
			at = append(at, nil)
		}
		inner, ok := put(at[step], steps[1:], value)
		at[step] = inner
		return at, ok
	}
	return nil, false
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
