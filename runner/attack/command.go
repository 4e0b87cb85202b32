package attack

import (
	"fmt"
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// commandForm is a way to put a command into a value.
type commandForm struct {
	form
	// any: for every capability, whether it was seen to start programs or not. typed: also for values other than
	// texts. url: only for URLs. paths: only for paths.
	any, typed, url, paths bool
}

// plain matches the beginning of a value that a shell reads as words; the rest is left out, because a syntax
// error would keep the shell from running anything.
var plain = lazyregexp.New(`^[\w\pL\pM./:@%+=, -]+`)

// forURL matches names of fields for URLs.
var forURL = lazyregexp.New(`(?i)(?:ur[il]|link|href|endpoint|website)s?(?:\[0\])?$`)

// anyQuotes runs a command in every kind of quotes.
const anyQuotes = "$(!)';!;:'"

// commands are the ways to put a command into a value, the likeliest first. The first works
// in every kind of quotes, the others evade guards against some.
var commands = []commandForm{
	written("in a substitution and behind a single quote", "{}"+anyQuotes).everywhere(),
	written("on a line of its own", "{}\n!\n").everywhere(),
	written("in a list in place of a text, behind a semicolon", "{};!;").listed(),
	{form: form{name: "as the whole value", control: true, write: func(f field, m inputs.Mark, _ int) string { return f.before + f.command(m) + f.behind }}, any: true},
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
	redirected("as where output goes", "{}>@"),
	redirected("as where input comes from", "{}<@"),
	written("behind a semicolon, before a comment", "{};!;#"),
	written("behind a single quote, before a comment", "{}';!;#"),
	written("behind a double quote, before a comment", `{}";!;#`),
	written("behind a bracket, before a comment", "{});!;#"),
	inDirectory("in a directory that is left again"),
	written("behind a semicolon, before the value", "{};!;{}"),
	written("behind a double quote, before the value", `{}";!;"{}`),
	written("behind a backslash and a double quote", `{}\";!;"`),
	written("in the middle of the value", "{}$(!){}"),
	written("between lines that hold the value", "{}\n!\n{}"),
	slashless("behind a semicolon, without a slash", "{};!;"),
	slashless("behind a pipe, without a slash", "{}|!"),
	slashless("in a substitution, without a slash", "{}$(!)"),
	slashless("on a line of its own, without a slash", "{}\n!\n"),
	wordy("behind a semicolon, without a slash or a dollar sign", "{};!;"),
	wordy("behind a pipe, without a slash or a dollar sign", "{}|!"),
	coded("percent-encoded", percentEncoded),
	coded("in full width", func(c rune) string { return string(c - '!' + '！') }),
	coded("in references of HTML", func(c rune) string { return fmt.Sprintf("&#%d;", c) }),
	coded("in escapes of Unicode", func(c rune) string { return fmt.Sprintf(`\u%04x`, c) }),
	written("on a line of its own, encoded", "{}%0A!%0A"),
	written("before the value, in a substitution", "$(!){}"),
	written("before the value, between backticks", "`!`{}"),
	written("in the query of a URL", "{}?q=$(!)").inURL(),
	written("in the query of a URL, behind a double quote", `{}?q=";!;"`).inURL(),
	written("in the fragment of a URL, behind a single quote", "{}#';!;'").inURL(),
	written("in the fragment of a URL, between backticks", "{}#`!`").inURL(),
	written("as a parameter of a URL", "{}?a=1&!&b=1").inURL(),
}

// written is a form with a pattern, in which "{}" stands for the honest value, "!" for the command.
func written(name, pattern string) commandForm { return patterned(name, pattern, field.command) }

// coded is the first form with its punctuation encoded, for servers that decode a value behind their guard.
func coded(name string, encode func(rune) string) commandForm {
	return commandForm{form: form{name: "in a substitution and behind a single quote, " + name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + f.honest(m) + punctuation(strings.ReplaceAll(anyQuotes, "!", f.command(m)), encode) + f.behind
	}}}
}

// percentEncoded encodes a character as in URLs.
func percentEncoded(c rune) string { return fmt.Sprintf("%%%02X", c) }

// punctuation encodes what is neither a letter nor a digit in a text of ASCII.
func punctuation(text string, encode func(rune) string) string {
	return unsafe.ReplaceAllStringFunc(text, func(c string) string { return encode(rune(c[0])) })
}

var unsafe = lazyregexp.New(`[^A-Za-z0-9-]`)

// slashless is written with a command without slashes and blanks.
func slashless(name, pattern string) commandForm {
	return patterned(name, pattern, func(_ field, m inputs.Mark) string { return m.BareCommand() })
}

// wordy is written with a command without slashes and dollar signs.
func wordy(name, pattern string) commandForm {
	return patterned(name, pattern, func(_ field, m inputs.Mark) string { return "env\t" + m.Injected() })
}

// inDirectory is for guards that check the existence of the cleaned path: the
// command is in the name of a directory, with ".." after it.
func inDirectory(name string) commandForm {
	return commandForm{form: form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		dir, base := path.Split(f.honest(m))
		return f.before + dir + "$(" + m.BareCommand() + ")/../" + base + f.behind
	}}, paths: true}
}

// redirected is for shells that run no other command: they open a file whose name is not a separate word,
// so that nothing but a shell opens it.
func redirected(name, pattern string) commandForm {
	return patterned(name, strings.Replace(pattern, "@", "!", 1), func(_ field, m inputs.Mark) string { return m.OutsideFile() })
}

func patterned(name, pattern string, command func(field, inputs.Mark) string) commandForm {
	return commandForm{form: form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.honest(m), "!", command(f, m)).Replace(pattern) + f.behind
	}}}
}

// command returns the command to run, without a slash in a variable of a template, which would end there.
func (f field) command(m inputs.Mark) string {
	if f.variable != "" {
		return m.BareCommand()
	}
	return m.Command()
}

// honest returns the text before a payload: the beginning of the honest value, or else a name or a URL.
func (f field) honest(m inputs.Mark) string {
	begin := strings.TrimRight(plain.FindString(f.core()), " ")
	switch {
	case begin != "":
		return begin
	case forURL.MatchString(f.name) && f.core() == "":
		return "https://" + m.Host() + "/x"
	}
	return m.ID()
}

func (f commandForm) everywhere() commandForm { f.any, f.typed = true, true; return f }
func (f commandForm) anyType() commandForm    { f.typed = true; return f }
func (f commandForm) listed() commandForm     { f.inList = true; return f }
func (f commandForm) inURL() commandForm      { f.url = true; return f }

// commandSteps returns the attempts of family Command.
func commandSteps(fields []field, seen Seen) (all []step) {
	most := maxAttempts
	if seen.Programs {
		most = maxRelevant
	}
	for _, way := range commands {
		for _, field := range fields {
			if len(all) < most && field.takes(way, seen) {
				all = append(all, step{family: Command, form: way.form, field: field})
			}
		}
	}
	if !seen.Programs {
		return all
	}
	return append(all, formed(Command, keyCommands, keys(fields))...)
}

// keyCommands are for objects that take any keys: a server that quotes values may not quote keys.
var keyCommands = []form{
	written("as a key, behind a semicolon", "{};!;").keyed(),
	written("as a key, in a substitution", "{}$(!)").keyed(),
	written("as a key, behind a single quote", "{}';!;'").keyed(),
	written("as a key, behind a double quote", `{}";!;"`).keyed(),
}

func (f form) keyed() form { f.key = true; return f }

// takes reports whether a form is worth trying in a field.
func (f field) takes(way commandForm, seen Seen) bool {
	switch {
	case !way.any && (!seen.Programs || f.next):
		return false
	case way.inList && !f.onlyText:
		return false
	case way.url:
		return f.variable == "" && (strings.Contains(f.value, "://") || f.value == "" && forURL.MatchString(f.name))
	}
	return (f.text || way.typed) && (!way.paths || f.variable == "" && path.IsAbs(f.core()))
}
