package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// optionForms make a value an option that no program knows, the likeliest first: as the whole value; after
// the honest value, for servers that split values into words; before it, for guards that require parts of honest
// values; as a short one, for guards against "--"; and behind a blank, for guards before the value is trimmed.
var optionForms = []form{
	{name: "as an option", write: func(_ field, m inputs.Mark, _ int) string { return "--" + m.ID() }},
	{name: "as a word behind the value", write: func(f field, m inputs.Mark, _ int) string { return f.core() + " --" + m.ID() }},
	{name: "as an option that has the value", write: func(f field, m inputs.Mark, _ int) string { return "--" + m.ID() + "=" + unspaced(f.core()) }},
	{name: "as a short option", write: func(_ field, m inputs.Mark, _ int) string { return "-" + m.ID() }},
	{name: "as an option behind a blank", write: func(_ field, m inputs.Mark, _ int) string { return " --" + m.ID() }},
}

// optionSteps returns the attempts of family Option.
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

// unspaced returns the first word of a value.
func unspaced(value string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	return word
}
