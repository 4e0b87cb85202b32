package attack

import "github.com/mcpaudit/mcpaudit/runner/inputs"

// optionForm is an option that no program knows.
var optionForm = form{name: "as an option", write: func(_ field, m inputs.Mark, _ int) string { return "--" + m.ID() }}
