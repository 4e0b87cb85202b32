package attack

import "github.com/mcpaudit/mcpaudit/runner/inputs"

// optionForms are ways to have a value become an option that no program knows, the likeliest
// first: as all of it, as one that a guard against "--" lets through, and behind the honest
// value, for who splits a value into words.
var optionForms = []form{
	{name: "as an option", write: func(_ field, m inputs.Mark, _ int) string { return "--" + m.ID() }},
	{name: "as a word behind the value", write: func(f field, m inputs.Mark, _ int) string { return f.core() + " --" + m.ID() }},
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
