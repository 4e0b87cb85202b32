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

// field is a place in the arguments that takes a text or a number.
type field struct {
	// name is the path as people write it.
	name string
	// steps is the path as keys and indexes.
	steps []any
	// value is the one in the honest call; "" for none.
	value string
	// ahead are elements to put before it in a list that is too short.
	ahead []string
	// lacking: the honest call leaves it out, and value is an example of its description.
	lacking bool
	// text: it takes any text. onlyText: it is declared as a text, and as nothing else.
	text, onlyText bool
	// number: it is declared as a number.
	number bool
	// choice: it is declared as one of some texts, which the server may not check.
	choice bool
	// free: it is an undeclared key of an object.
	free bool
	// next: it is the element after those of the honest call, or of an example.
	next bool
	// item: it is the last of several values in one text, which precede it.
	item bool
	// said is its description.
	said string
	// variable is its name in a template; "" elsewhere.
	variable string
	// before and behind are the unchanged parts of the value.
	before, behind string
	// ending is the extension of the file that replaces the rest.
	ending string
	// planted is the name of the file that it leads to outside.
	planted string
	// directory: it names the directory where the server looks for that file.
	directory bool
	// unmade: the attempt leads to a missing file or directory.
	unmade bool
	// dir is the directory that the honest value was joined to, or lies in; "" if unknown.
	dir string
}

const maxDepth = 4 // of fields in the arguments

// fieldsOf returns the fields of a target: those of the honest call, texts first, and then the
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
		for _, f := range all {
			if part, ok := f.mentioned(seen); ok {
				all = append(all, part)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b field) int { return rank(a) - rank(b) })
	all = all[:min(len(all), maxFields)]
	for i := range all {
		all[i] = all[i].frame(seen, dirs)
	}
	return all
}

// rank orders fields: texts first, and given ones before others.
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

// place returns a name that is unique among the fields of a capability.
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

// several matches lists of names with commas between them.
var several = lazyregexp.New(`^[\w./@+-]{1,64}(?:, ?[\w./@+-]{1,64}){1,15}$`)

// commas matches descriptions of such lists.
var commas = lazyregexp.New(`(?i)\bcomma`)

// walkText visits a text, and the fields within JSON or a list in it: a guard may check the whole text or
// only the first element.
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

// mentioned returns the part of a text that is the name of a file which was accessed; false for none.
func (f field) mentioned(seen Seen) (field, bool) {
	from, to := seen.mentions(f.value)
	if !f.text || f.item || f.next || len(f.steps) == 0 || from == to {
		return field{}, false
	}
	f.before, f.behind, f.item = f.value[:from], f.value[to:], true
	return f, true
}

// mentions returns where a text has the name of a file that was accessed, such as the one that a page includes; 0, 0 if
// nowhere, or if the text is a path or a URL.
func (s Seen) mentions(text string) (from, to int) {
	if len(s.Files) == 0 || relative.MatchString(text) || strings.Contains(text, "://") || strings.HasPrefix(text, "/") {
		return 0, 0
	}
	for _, at := range fileName.FindAllStringIndex(text, maxFields) {
		name := "/" + text[at[0]:at[1]]
		if slices.ContainsFunc(s.Files, func(file string) bool { return strings.HasSuffix(file, name) }) {
			return at[0], at[1]
		}
	}
	return 0, 0
}

// fileName matches names of files in a text.
var fileName = lazyregexp.New(`[\w\pL\pM@+-][\w\pL\pM/@+.-]{0,100}\.[A-Za-z0-9]{1,8}\b`)

// walkList visits the first element of a list, and the one after its end.
func walkList(value []any, name string, steps []any, do func(field)) {
	walk(value[0], name+"[0]", append(slices.Clone(steps), 0), do)
	if first, isText := value[0].(string); isText && len(steps) > 0 && len(first) <= maxFieldText {
		do(field{name: name + "[" + strconv.Itoa(len(value)) + "]", steps: append(slices.Clone(steps), len(value)), value: first, text: true, next: true})
	}
}

func below(name, key string) string { return strings.TrimPrefix(name+"."+key, ".") }

// set returns arguments with another value in a field, a text or an object as JSON; false where they have no room for it.
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

// put returns a value with another one below it, and makes the objects and lists that are missing on the way.
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

// encode does not escape "<", ">" and "&", like the clients of models.
func encode(value any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}
