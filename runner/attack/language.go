package attack

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// languages are, by program, ways to write a value that becomes a part of a script in the program's
// language, so that it runs a command, or writes a file: "{}" stands for
// the honest value, "!" and "%" for the command, the second without a slash, "@" for the file.
var languages = map[string][]string{
	"awk":     {`system("!")`, `{},system("!")`, `{};system("!")`, `{}}BEGIN{system("!")}{`, `{})system("!");(`, `"!"|getline`, `{}";system("!");"`},
	"sed":     {"s/.*/%/e", "1e %", "s/a/b/w @", "{};1e %", "{}\n1e %", "{}/;1e %;s/a/b", "{}e", "w @"},
	"bc":      {"{}\n!%\n"},
	"dc":      {"!%"},
	"ed":      {"!%", "{}\n!%"},
	"gnuplot": {`system("!")`, `{};system("!")`, "{}\n!%"},
	"m4":      {"syscmd(`!')", "{}syscmd(`!')"},
	"make":    {"$(shell !)", "{}$(shell !)"},
	"perl":    {`system("!")`, `{};system("!")`, `{},system("!")`, `{}";system("!");"`},
	"psql":    {`\! !`, "{}\n\\! !\n"},
	"ruby":    {`system("!")`, `{};system("!")`, "{}#{`!`}"},
	"sqlite3": {".shell !", "{}\n.shell !\n", ".output @"},
	"tclsh":   {"exec !", "{}[exec !]"},
	"vim":     {"!%", "{}|!%"},
}

// dialects are other names of those programs.
var dialects = map[string]string{"gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "gmake": "make", "vi": "vim", "ex": "vim", "red": "ed"}

const maxLanguages = 3 // fields of one target

// languageSteps returns the attempts on values that were part of an argument of such a program.
func languageSteps(fields []field, seen Seen) (all []step) {
	places := 0
	for _, f := range fields {
		name := seen.reader(f)
		if name == "" || places == maxLanguages {
			continue
		}
		places++
		for _, pattern := range languages[name] {
			all = append(all, step{family: Command, form: spoken(name, pattern), field: f})
		}
	}
	return all
}

// reader returns the program with a language that had an honest value in an argument; "" for none. It skips
// paths, because the name of an input file is not interpreted.
func (s Seen) reader(f field) string {
	value := f.core()
	if value == "" || !f.text {
		return ""
	}
	for _, words := range s.Started {
		name := path.Base(words[0])
		if other, known := dialects[name]; known {
			name = other
		}
		if languages[name] != nil && slices.ContainsFunc(words[1:], func(word string) bool { return strings.Contains(word, value) && !path.IsAbs(word) }) {
			return name
		}
	}
	return ""
}

func spoken(name, pattern string) form {
	return form{name: "in the language of " + name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.core(), "!%", "!env "+m.Injected(), "%", "env "+m.Injected(), `\! !`, `\! `+m.Command(), "!", m.Command(), "@", m.OutsideFile()).Replace(pattern) + f.behind
	}}
}
