package attack

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
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
	// Member: the answer to the polluting call itself shows it (see Strayed). Deaf: that call was not answered, and the
	// server refused a request for its tools then, for what it inherits is in each request.
	Member, Deaf bool
}

// Strayed reports whether a mark is the value of a member of a result that no tool makes: libraries copy what all
// objects inherit into the results that they write.
func Strayed(result json.RawMessage, mark string) bool {
	for name, value := range manifest.Object(result) {
		if !slices.Contains([]string{"content", "structuredContent", "_meta"}, name) && manifest.Text(value) == mark {
			return true
		}
	}
	return false
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

// PollutionForms is the number of calls for one place; the first is the Control.
var PollutionForms = len(prototypeKeys)

// maxPolluted bounds the names in the object that is to be merged.
const maxPolluted = 16

// busy are names that the runtime and the SDK read: a program that finds them in every object crashes.
var busy = []string{"get", "set", "value", "writable", "enumerable", "configurable", "then", "id", "method", "params", "result", "error", "length", "toString", "constructor", "__proto__"}

// Pollutions returns the calls for a target, PollutionForms each for its first argument that holds an object (also as
// JSON in a text), and for a key ("ui.theme") with a value beside it. names are argument names of this and other tools;
// each call gets the next mark.
func (p Plan) Pollutions(t Target, names []string, next func() inputs.Mark) (all []Pollution) {
	fields := fieldsOf(t, p.Seen[t.Of], p.Dirs)
	if at := slices.IndexFunc(fields, func(f field) bool { return len(f.holder()) > 0 }); at >= 0 {
		holder := fields[at].holder()
		all = pollutions(t, holder[:1], next, func(keys []any, own, mark string) (json.RawMessage, bool) {
			arguments, ok := pollute(t.Honest, holder, keys, own, names, mark)
			if ok && keys[0] == inputs.Word { // as a key of the object's own, too
				return pollute(arguments, holder, nil, own, names, mark)
			}
			return arguments, ok
		})
	}
	for _, f := range fields {
		beside := func(other field) bool {
			return other.called(forValue) && other.name != f.name && above(other.name) == above(f.name)
		}
		if value := slices.IndexFunc(fields, beside); value >= 0 && f.called(forKey) && !p.Seen[t.Of].shows(f.value) {
			return append(all, keyPollutions(t, f, fields[value], next)...)
		}
	}
	return all
}

// keyPollutions returns the calls for a key with a value beside it.
func keyPollutions(t Target, key, value field, next func() inputs.Mark) []Pollution {
	name, _ := key.key()
	if slices.Contains(busy, name) {
		return nil
	}
	return pollutions(t, key.steps, next, func(keys []any, own, mark string) (json.RawMessage, bool) {
		to := ""
		for _, key := range keys {
			to += key.(string) + "."
		}
		arguments, ok := key.set(t.Honest, to+own)
		if !ok {
			return nil, false
		}
		return value.set(arguments, mark)
	})
}

var (
	// forKey matches the names of arguments that take a key ("ui.theme"), forValue those that take its value.
	forKey   = lazyregexp.New(`(?i)(?:key|path|prop(?:erty)?|setting|option|field|name)$`)
	forValue = lazyregexp.New(`(?i)(?:value|val|data|content)$`)
)

// called reports whether a place is a text with such a name.
func (f field) called(what *lazyregexp.Regexp) bool {
	name, named := f.key()
	return named && what.MatchString(name)
}

// pollutions returns a call for each of prototypeKeys; none if one is impossible. The calls behind it leave out the
// argument at a path, which ends in its own name.
func pollutions(t Target, at []any, next func() inputs.Mark, write func(keys []any, own, mark string) (json.RawMessage, bool)) (all []Pollution) {
	without := inputs.Decode(t.Honest)
	own := at[len(at)-1].(string)
	remove(without, at)
	left, _ := json.Marshal(without) // of decoded JSON: no error
	for _, form := range prototypeKeys {
		mark := next().ID()
		arguments, ok := write(form.keys, own, mark)
		if !ok {
			return nil
		}
		all = append(all, Pollution{Field: own, Form: form.name, Control: form.name == "", Arguments: arguments, Without: left, Mark: mark})
	}
	return all
}

// remove removes the member at a path of keys and indexes, if there is one.
func remove(from any, at []any) {
	switch in := from.(type) {
	case map[string]any:
		if name, _ := at[0].(string); len(at) == 1 {
			delete(in, name)
		} else {
			remove(in[name], at[1:])
		}
	case []any:
		if i, isIndex := at[0].(int); isIndex && i < len(in) && len(at) > 1 {
			remove(in[i], at[1:])
		}
	}
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
