package attack

import (
	"regexp"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// commandForm is a way to put a command into a value.
type commandForm struct {
	form
	// any: it is tried on whatever a capability was seen to do. typed: also on what is no
	// text. url: only on URLs.
	any, typed, url bool
}

// plain are the values that a shell takes for words; others are replaced by a name, for a
// shell that gives up at a bracket runs nothing.
var plain = regexp.MustCompile(`^[\w./:@%+=, -]+$`)

// commands are the ways to put a command into a value, the likeliest first. The first holds
// the command in a form for each kind of quotes, the others are for guards that know some.
var commands = []commandForm{
	written("in a substitution and behind a single quote", "{}$(!)';!;:'").everywhere(),
	written("on a line of its own", "{}\n!\n").everywhere(),
	{form: form{name: "as the whole value", control: true, write: func(_ field, m inputs.Mark, _ int) string { return m.Command() }}},
	written("behind a semicolon", "{};!;").anyType(),
	written("behind a blank and a semicolon", "{} ; !"),
	written("behind a pipe", "{}|!"),
	written("behind a blank and a pipe", "{} | !"),
	written("between backticks", "{}`!`"),
	written("in a substitution", "{}$(!)").anyType(),
	written("in a word of its own, in a substitution", "{} $(!)"),
	written("behind &&", "{}&&!"),
	written("behind a blank and &&", "{} && !"),
	written("behind ||", "{}||!"),
	written("behind &", "{}&!&"),
	written("behind a double quote", `{}";!;"`),
	written("behind a single quote", "{}';!;'"),
	written("behind a double quote and a pipe", `{}"|!|"`),
	written("behind a single quote and a pipe", "{}'|!|'"),
	written("behind a double quote, on a line of its own", "{}\"\n!\n\""),
	written("behind a single quote, on a line of its own", "{}'\n!\n'"),
	written("behind a double quote and &", `{}"&!&"`),
	written("before the value, in a substitution", "$(!){}"),
	written("before the value, between backticks", "`!`{}"),
	written("in the query of a URL", "{}?q=$(!)").forURL(),
	written("in the query of a URL, behind a double quote", `{}?q=";!;"`).forURL(),
	written("in the fragment of a URL, behind a single quote", "{}#';!;'").forURL(),
	written("in the fragment of a URL, between backticks", "{}#`!`").forURL(),
	written("as a parameter of a URL", "{}?a=1&!&b=1").forURL(),
}

// written is a form by its pattern: "{}" stands for the honest value, "!" for the command.
func written(name, pattern string) commandForm {
	return commandForm{form: form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		honest := f.value
		if !plain.MatchString(honest) {
			honest = m.ID()
		}
		return strings.NewReplacer("{}", honest, "!", m.Command()).Replace(pattern)
	}}}
}

func (f commandForm) everywhere() commandForm { f.any, f.typed = true, true; return f }
func (f commandForm) anyType() commandForm    { f.typed = true; return f }
func (f commandForm) forURL() commandForm     { f.url = true; return f }

// commandSteps are the attempts of family Command.
func commandSteps(fields []field, seen Seen) (all []step) {
	most := maxAttempts
	if seen.Programs {
		most = maxRelevant
	}
	for _, way := range commands {
		for _, field := range fields {
			if len(all) < most && field.takes(way, seen) {
				all = append(all, step{Command, way.form, field})
			}
		}
	}
	return all
}

// takes reports whether a form is worth trying at a place.
func (f field) takes(way commandForm, seen Seen) bool {
	switch {
	case !way.any && !seen.Programs:
		return false
	case way.url:
		return strings.Contains(f.value, "://")
	}
	return f.text || way.typed
}
