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

// Pollution is a call that pollutes the prototype of all objects of a program in JavaScript, if that merges an object
// which it was given into another without looking at the keys (CWE-1321).
type Pollution struct {
	Field string
	// Form says in words by which key. Control: by none, and whoever shows the mark then has kept it.
	Form    string
	Control bool
	// Arguments and Without are JSON objects: those of the call, and the same without the place that
	// holds the object. A program whose prototype is polluted finds there what nobody has given.
	Arguments, Without json.RawMessage
	// Mark is the text that stands in them only below the key.
	Mark string
}

// Polluted is a pollution that an answer has shown.
type Polluted struct {
	Of          report.Capability
	Field, Form string
	// By is the capability that answered, Answer the beginning of what it said.
	By     report.Capability
	Answer string
}

// prototypeKeys are the keys that lead to the prototype of all objects, the control first.
var prototypeKeys = []struct {
	name string
	keys []any
}{
	{"", []any{inputs.Word}},
	{`by the key "__proto__"`, []any{"__proto__"}},
	{`by the keys "constructor" and "prototype"`, []any{"constructor", "prototype"}},
}

// PollutionForms is how many calls Pollutions makes at most.
var PollutionForms = len(prototypeKeys)

// maxPolluted is how many names the object has that is to be merged.
const maxPolluted = 16

// busy are names that the runtime and the SDK ask objects for: a program that finds them in all ends.
var busy = []string{"get", "set", "value", "writable", "enumerable", "configurable", "then", "id", "method", "params", "result", "error", "length", "toString", "constructor", "__proto__"}

// Pollutions are the calls for the first place of a target that holds an object of any keys, also as JSON in a
// text, or else for one that is the way to a key, with a value beside it; each gets the next mark. names are those of
// arguments, of this and other tools.
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
	// forKey are names of what may be the way to a key ("ui.theme"), forValue those of what it is to have.
	forKey   = lazyregexp.New(`(?i)(?:key|path|prop(?:erty)?|setting|option|field|name)$`)
	forValue = lazyregexp.New(`(?i)(?:value|val|data|content)$`)
)

// atTop reports whether a place is a text at the top of the arguments, with such a name.
func (f field) atTop(called *lazyregexp.Regexp) bool {
	return f.text && !f.item && len(f.steps) == 1 && called.MatchString(f.name)
}

// pollutions makes a call of each form for the place of a name.
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

// holder is the way to the object at the top, or in a text at the top, that a place is in; nil where it is in none.
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

// pollute puts the mark below some keys of an object, under each name; and for the name of the place itself what
// may stand there.
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
