package attack

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// freeKey is the key that an object gets which takes any.
const freeKey = inputs.Word

// examples are the texts that a place without an honest value has for examples: what is built on
// one passes a guard that looks for such a value.
func (s *schema) examples() (all []string) {
	for _, each := range append([]any{s.Default}, s.Examples...) {
		if text, isText := each.(string); isText && text != "" && len(text) <= maxFieldText {
			all = append(all, text)
		}
	}
	all = append(all, inputs.Offered(s.Description)...)
	if found := alternatives.FindStringSubmatch(s.Description); found != nil {
		all = append(all, found[1])
	}
	return all
}

// alternatives finds the first of the words that may be given: "Column to sort by, name or price".
var alternatives = lazyregexp.New(`[,:(]\s*([A-Za-z_][\w-]{0,31})(?:,\s*[\w-]{1,32}){0,8},? or [A-Za-z_][\w-]{0,31}(?:$|[\s,.;)])`)

// listOf finds a list of texts in a description.
var listOf = lazyregexp.New(`\[\s*"[^"\]\n]*"(?:\s*,\s*"[^"\]\n]*")*\s*\]`)

// list is the list that the description of one has for an example.
func (s *schema) list() (all []string) {
	_ = json.Unmarshal([]byte(listOf.FindString(s.Description)), &all) // no list, no elements
	return all
}

// following is the element behind those of an example that is longer than what the honest call has:
// a word of it may be the value of the one before.
func (f field) following(example []string) field {
	last := len(f.steps) - 1
	if at, isIndex := f.steps[last].(int); f.next && isIndex && len(example) > at && example[0] == f.value {
		f.name = strings.TrimSuffix(f.name, "["+strconv.Itoa(at)+"]") + "[" + strconv.Itoa(len(example)) + "]"
		f.steps = append(f.steps[:last:last], len(example))
		f.ahead = example
	}
	return f
}

// elements calls a function with the places of a list that the honest call leaves empty: the first
// element, and the one behind those that the list has for an example.
func (s *schema) elements(name string, steps []any, items *schema, do func(field)) {
	ahead := s.list()
	examples := append(items.examples(), s.examples()...)
	first := field{name: name + "[0]", steps: append(steps[:len(steps):len(steps)], 0), text: items.free(), lacking: true}
	switch {
	case len(ahead) > 0:
		first.value = ahead[0]
	case len(examples) > 0 && first.text:
		first.value, ahead = examples[0], examples[:1]
	}
	do(first.of(items))
	if len(ahead) > 0 {
		do(field{name: name + "[" + strconv.Itoa(len(ahead)) + "]", steps: append(steps[:len(steps):len(steps)], len(ahead)), value: first.value,
			ahead: ahead, text: items.free(), lacking: true, next: true}.of(items))
	}
}

// ofSQL are descriptions, and names, of what is a part of a statement of SQL.
var ofSQL = lazyregexp.New(`(?i)\b(?:sql|where|clauses?|expressions?|conditions?|predicates?|quer(?:y|ies)|statements?)\b`)

// takesSQL reports whether a place is there for a part of a statement.
func (f field) takesSQL() bool { return f.speaksOf(ofSQL) }

// speaksOf reports whether the name or the description of a place has some word.
func (f field) speaksOf(word *lazyregexp.Regexp) bool {
	return word.MatchString(f.said) || word.MatchString(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(f.name))
}

// of adds what the schema of a place says of it.
func (f field) of(s *schema) field {
	f.said, f.choice, f.onlyText = s.Description, len(s.Enum) > 0 && s.has("string"), s.onlyText()
	return f
}
