package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// Bounds on the calls of a tool with values of the server's code, by number: with values for arguments of their names,
// and with others. mostJoined bounds a text of many, in bytes: all of it is kept with the answer.
const mostNamed, mostFree, mostJoined = 48, 64, 1800

// Triggers makes calls of a tool with the values that the server's code compares something with, and with the words of its
// code and data, because it may act on only those. The zero value makes none.
type Triggers struct {
	properties map[string]any
	arguments  json.RawMessage
	options    Options
	given      map[string]any
	// named has values by the name of an argument, and names their order.
	named map[string][]any
	names []string
	// free are values for any text.
	free []string
	n    int
}

// NewTriggers prepares the calls. Arguments are accepted ones that belong to the schema. Those of Options.Given stay, and so
// do commands and code, whose effects the audit itself would cause.
func NewTriggers(schema, arguments json.RawMessage, values sources.Values, o Options) *Triggers {
	t := &Triggers{arguments: arguments, options: o, properties: map[string]any{}, named: map[string][]any{}}
	if root, _ := Decode(schema).(map[string]any); root["properties"] != nil {
		t.properties, _ = root["properties"].(map[string]any)
	}
	t.given, _ = Decode(o.Given).(map[string]any)
	names := map[string]string{}
	for name := range t.properties {
		if _, fixed := t.given[name]; !fixed && !Commands(name) {
			names[likeName(name)] = name
		}
	}
	for _, c := range values.Compared {
		if name, argument := names[likeName(c.Name)]; argument {
			t.add(name, c)
		} else if text := textOf(c); !c.Number && len(t.free) < mostFree && !slices.Contains(t.free, text) {
			t.free = append(t.free, text)
		}
	}
	t.names = slices.Sorted(maps.Keys(t.named))
	if len(t.free) > 1 {
		t.free = append(t.free, joined(t.free)...)
	}
	t.free = append(t.free, joined(slices.Sorted(slices.Values(values.Words)))...) // in no order that says anything
	return t
}

// joined joins words to texts of mostJoined bytes.
func joined(words []string) (all []string) {
	var text strings.Builder
	for i, word := range words {
		text.WriteString(word)
		if last := i == len(words)-1; last || text.Len() >= mostJoined {
			all = append(all, text.String())
			text.Reset()
			continue
		}
		text.WriteByte(' ')
	}
	return all
}

// likeName returns a name without what differs between the name of an argument and that of a variable.
func likeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// textOf returns the text of a comparison: for a regular expression, one that it matches.
func textOf(c sources.Comparison) string {
	if c.Pattern {
		return fitPattern("", c.Value)
	}
	return c.Value
}

// add adds the values of a comparison to those of an argument, with the neighbours of a number.
func (t *Triggers) add(name string, c sources.Comparison) {
	schema, _ := t.properties[name].(map[string]any)
	var values []any
	switch kind := typeOf(schema); {
	case schema["enum"] != nil || schema["const"] != nil:
		return
	case kind == "string":
		values = []any{textOf(c)}
	case kind == "array":
		values = []any{[]any{textOf(c)}}
	case kind == "integer" && c.Number, kind == "number" && c.Number:
		n, err := strconv.ParseFloat(c.Value, 64)
		if err != nil {
			return
		}
		values = []any{n, n + 1, n - 1}
	}
	t.named[name] = append(t.named[name], values...)
}

// Next returns the arguments of the next call; false if there are no more.
func (t *Triggers) Next(m Mark) (json.RawMessage, bool) {
	arguments, _ := Decode(t.arguments).(map[string]any)
	for ready := false; !ready; t.n++ {
		free := t.n - t.combinations()
		switch {
		case arguments == nil || free >= len(t.free):
			return nil, false
		case free < 0:
			t.combine(arguments, t.n, m)
			ready = true
		default:
			ready = t.write(arguments, t.moved(t.free[free], m))
		}
	}
	raw, err := json.Marshal(arguments)
	return raw, err == nil
}

// combine sets the nth combination of the values for arguments of their names.
func (t *Triggers) combine(arguments map[string]any, n int, m Mark) {
	for _, name := range t.names {
		values := t.named[name]
		arguments[name] = t.move(values[n%len(values)], m)
		n /= len(values)
	}
}

// combinations returns the number of calls with values for all arguments that have some, up to a bound.
func (t *Triggers) combinations() int {
	if len(t.names) == 0 {
		return 0
	}
	n := 1
	for _, name := range t.names {
		n = min(n*len(t.named[name]), mostNamed)
	}
	return n
}

func (t *Triggers) move(value any, m Mark) any {
	switch value := value.(type) {
	case string:
		return t.moved(value, m)
	case []any:
		return []any{t.move(value[0], m)}
	}
	return value
}

// moved returns a text without hosts and paths elsewhere, which the server must not choose.
func (t *Triggers) moved(text string, m Mark) string {
	if text == "" {
		return text
	}
	return destination{t.options, m}.relocate(text, "")
}

// write puts a text in place of each made-up sentence, name and search term, or of each text if there is none of those.
func (t *Triggers) write(arguments map[string]any, text string) (written bool) {
	for _, whole := range []bool{false, true} {
		for name, value := range arguments {
			was, _ := value.(string)
			if _, fixed := t.given[name]; fixed || Commands(name) {
				continue
			}
			schema, _ := t.properties[name].(map[string]any)
			ordinary := was != "" && (sentenceForm.FindString(was) == was || was == sought || identifiers.MatchString(was))
			if was != "" && (ordinary || whole && schema["enum"] == nil && schema["format"] == nil && !strings.Contains(was, "/")) {
				arguments[name], written = text, true
			}
		}
		if written {
			return true
		}
	}
	return false
}
