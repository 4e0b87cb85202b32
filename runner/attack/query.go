package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// queryForms are the ways to leave a string of a statement in SQL. The first leaves none, and
// shows where honest values stand.
var queryForms = []form{
	asked("as a name", "!").plainly(),
	asked("behind a single quote", "{}' OR ! --"),
	asked("behind a single quote, without a comment", "{}' OR ! OR '"),
	asked("behind a double quote", `{}" OR ! --`),
	asked("behind a backslash and a single quote", `{}\' OR ! --`),
	asked("behind a bracket and a single quote", "{}') OR ! --"),
	asked("behind a backtick", "{}` OR ! --"),
	asked("behind a single quote, without a blank", "{}'/**/OR/**/!--"),
	asked("behind a single quote in full width", "{}＇ OR ! --"),
	asked("behind an encoded single quote", "{}%27 OR ! --"),
}

// asked is a form by its pattern: "{}" stands for the honest value, "!" for the mark.
func asked(name, pattern string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.honest(m), "!", m.ID()).Replace(pattern) + f.behind
	}}
}

// maxQueryFields is at how many places of one target they are tried.
const maxQueryFields = 4

// querySteps are the attempts of family Query, on what has used the network.
func querySteps(fields []field, seen Seen) (all []step) {
	for _, form := range queryForms {
		tried := 0
		for _, f := range fields {
			if seen.Network && f.text && tried < maxQueryFields {
				tried++
				all = append(all, step{family: Query, form: form, field: f})
			}
		}
	}
	return all
}
