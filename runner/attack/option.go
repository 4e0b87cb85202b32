package attack

import "github.com/mcpaudit/mcpaudit/runner/inputs"

// optionForm is an option that no program knows.
var optionForm = form{name: "as an option", write: func(_ field, m inputs.Mark, _ int) string { return "--" + m.ID() }}

// optionSteps are the attempts of family Option.
func optionSteps(fields []field, seen Seen) (all []step) {
	for _, field := range fields {
		if seen.Programs && field.text {
			all = append(all, step{family: Option, form: optionForm, field: field})
		}
	}
	return all
}
