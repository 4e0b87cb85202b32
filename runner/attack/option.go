package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// optionForms are ways to have a value become an option that no program knows, the likeliest
// first: as all of it, behind the honest value, for who splits a value into words, before it, for a
// guard that looks for what honest values have in them, and as one that a guard against "--" lets through.
var optionForms = []form{
	{name: "as an option", write: func(_ field, m inputs.Mark, _ int) string { return "--" + m.ID() }},
	{name: "as a word behind the value", write: func(f field, m inputs.Mark, _ int) string { return f.core() + " --" + m.ID() }},
	{name: "as an option that has the value", write: func(f field, m inputs.Mark, _ int) string { return "--" + m.ID() + "=" + unspaced(f.core()) }},
	{name: "as a short option", write: func(_ field, m inputs.Mark, _ int) string { return "-" + m.ID() }},
}

// optionSteps are the attempts of family Option.
func optionSteps(fields []field, seen Seen) (all []step) {
	for _, form := range optionForms {
		for _, field := range fields {
			if seen.Programs && field.text {
				all = append(all, step{family: Option, form: form, field: field})
			}
		}
	}
	return all
}

// unspaced is the beginning of a value that is one word.
func unspaced(value string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	return word
}
