package attack

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Pollution is a call that tries to pollute Object.prototype: a JavaScript program that merges a given object into
// another without checking its keys lets the call do so (CWE-1321).
type Pollution struct {
	Field string
	// Form names the key that leads to the prototype. A Control uses none: a server that shows its mark has only
	// stored it.
	Form    string
	Control bool
	// Arguments are those of the call, as JSON. Without are the same without the place that holds the object: a
	// program with a polluted prototype finds a value there that no call gave it.
	Arguments, Without json.RawMessage
	// Mark stands in Arguments below the key, and nowhere else.
	Mark string
}

// Polluted is a Pollution that worked, as an answer showed.
type Polluted struct {
	Of          report.Capability
	Field, Form string
	// By is the capability that answered. Answer is the beginning of its answer.
	By     report.Capability
	Answer string
}

// prototypeKeys lead to Object.prototype. The control comes first.
var prototypeKeys = []struct {
	name string
	keys []any
}{
	{"", []any{inputs.Word}},
	{`by the key "__proto__"`, []any{"__proto__"}},
	{`by the keys "constructor" and "prototype"`, []any{"constructor", "prototype"}},
}

// PollutionForms is the largest number of calls that Pollutions returns.
var PollutionForms = len(prototypeKeys)

// maxPolluted bounds the names in the object that is to be merged.
const maxPolluted = 16

// busy are names that the runtime and the SDK read: a program that finds them in every object crashes.
var busy = []string{"get", "set", "value", "writable", "enumerable", "configurable", "then", "id", "method", "params", "result", "error", "length", "toString", "constructor", "__proto__"}

// Pollutions returns the calls for a target: for its first argument that holds an object (also as JSON in a text), or
// else for a key ("ui.theme") with a value beside it. names are argument names of this and other tools; each call
// gets the next mark.
func (p Plan) Pollutions(t Target, names []string, next func() inputs.Mark) (all []Pollution) {
	fields := fieldsOf(t, p.Seen[t.Of], p.Dirs)
	if at := slices.IndexFunc(fields, func(f field) bool { return len(f.holder()) > 0 }); at >= 0 {
		holder := fields[at].holder()
		return pollutions(t, holder[0].(string), next, func(keys []any, own, mark string) (json.RawMessage, bool) {
			arguments, ok := pollute(t.Honest, holder, keys, own, names, mark)
			if ok && keys[0] == inputs.Word { // as a key of the object's own, too
				return pollute(arguments, holder, nil, own, names, mark)
			}
			return arguments, ok
		})
	}
	key := slices.IndexFunc(fields, func(f field) bool { return f.atTop(forKey) && !f.leads(p.Seen[t.Of]) && !slices.Contains(busy, f.name) })
	value := slices.IndexFunc(fields, func(f field) bool { return f.atTop(forValue) })
	if key < 0 || value < 0 || key == value {
		return nil
	}
	return pollutions(t, fields[key].name, next, func(keys []any, own, mark string) (json.RawMessage, bool) {
		to := ""
		for _, key := range keys {
			to += key.(string) + "."
		}
		arguments, ok := fields[key].set(t.Honest, to+own)
		if !ok {
			return nil, false
		}
		return fields[value].set(arguments, mark)
	})
}

var (
	// forKey matches the names of arguments that take a key ("ui.theme"), forValue those that take its value.
	forKey   = lazyregexp.New(`(?i)(?:key|path|prop(?:erty)?|setting|option|field|name)$`)
	forValue = lazyregexp.New(`(?i)(?:value|val|data|content)$`)
)

// atTop reports whether a place is a top-level text argument with such a name.
func (f field) atTop(called *lazyregexp.Regexp) bool {
	return f.text && !f.item && len(f.steps) == 1 && called.MatchString(f.name)
}

// pollutions returns a call for each of prototypeKeys. own is the argument that the calls behind it leave out.
func pollutions(t Target, own string, next func() inputs.Mark, write func(keys []any, own, mark string) (json.RawMessage, bool)) (all []Pollution) {
	without, _ := inputs.Decode(t.Honest).(map[string]any)
	without = maps.Clone(without)
	delete(without, own)
	left, _ := json.Marshal(without) // of decoded JSON: no error
	for _, form := range prototypeKeys {
		mark := next().ID()
		if arguments, ok := write(form.keys, own, mark); ok {
			all = append(all, Pollution{Field: own, Form: form.name, Control: form.name == "", Arguments: arguments, Without: left, Mark: mark})
		}
	}
	return all
}

// holder returns the path to the top-level object (or to the JSON in a top-level text) that contains a place; nil if
// there is none.
func (f field) holder() []any {
	n := 1
	if len(f.steps) > 1 && f.steps[1] == (inJSON{}) {
		n = 2
	}
	if len(f.steps) <= n {
		return nil
	}
	if _, isKey := f.steps[n].(string); !isKey {
		return nil
	}
	return f.steps[:n]
}

// pollute puts the mark below keys of an object, under each of names. Under own, whose value is an object, it puts one.
func pollute(arguments json.RawMessage, holder, keys []any, own string, names []string, mark string) (json.RawMessage, bool) {
	below := field{steps: slices.Concat(holder, keys)}
	put := 0
	for _, name := range names {
		if name == own || put >= maxPolluted || slices.Contains(busy, name) || strings.HasPrefix(name, "__") {
			continue
		}
		changed, ok := below.within(name).set(arguments, mark)
		if !ok {
			return nil, false
		}
		arguments, put = changed, put+1
	}
	if slices.Contains(busy, own) {
		return arguments, put > 0
	}
	if len(holder) > 1 { // a text
		return below.within(own).set(arguments, `{"`+mark+`":"1"}`)
	}
	return below.within(own).within(mark).set(arguments, "1")
}

func (f field) within(key string) field {
	return field{steps: append(slices.Clone(f.steps), key)}
}
