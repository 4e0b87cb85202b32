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
	return append(all, inputs.Offered(s.Description)...)
}

// listOf finds a list of texts in a description.
var listOf = lazyregexp.New(`\[\s*"[^"\]\n]*"(?:\s*,\s*"[^"\]\n]*")*\s*\]`)

// elements calls a function with the places of a list that the honest call leaves empty: the first
// element, and the one behind those that the list has for an example.
func (s *schema) elements(name string, steps []any, items *schema, do func(field)) {
	var ahead []string
	_ = json.Unmarshal([]byte(listOf.FindString(s.Description)), &ahead) // no list, no elements
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
	f.said = s.Description
	return f
}
