package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestAttackedCode: an expression that was evaluated opened its file.
func TestAttackedCode(t *testing.T) {
	try := attack.Attempt{Of: call.Capability, Family: attack.Code, Form: "as an expression of Python", Field: "expression", File: 3, Answered: true}
	calculator := server{name: "x", tools: []string{"format_note: Calculates the value of an expression."}}
	python := server{name: "x", tools: []string{"format_note: Runs Python code."}}
	never := server{name: "x", tools: []string{"format_note: Works out a sum. Never executes code."}}
	opened := read(call, inputs.OutsideFile(3, ".txt"))
	for name, tc := range map[string]struct {
		server  server
		effects []profile.Effect
		want    string
	}{
		"evaluated":        {calculator, []profile.Effect{opened}, `EXEC-004 High: Tool format_note evaluated its argument "expression"`},
		"said not to":      {never, []profile.Effect{opened}, `EXEC-004 Critical`},
		"not evaluated":    {calculator, nil, ""},
		"taken for a name": {calculator, []profile.Effect{read(call, `/srv/notes/open("`+inputs.OutsideFile(3, ".txt")+`")`)}, ""},
		"told to":          {python, []profile.Effect{opened}, ""},
	} {
		in := input(tc.server)
		in.Manifest = tc.server.manifest()
		in.Attack.Attempts, in.Attack.Profile.Effects = []attack.Attempt{try}, tc.effects
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

// optionally is a server that was given an option in place of an argument, and what it started.
func optionally(field string, argv ...string) []Input {
	in := input(silent)
	in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Option, Form: "as an option", Field: field, Value: "--marlow-c7", Call: 7}}
	in.Attack.Profile.Effects = []profile.Effect{run(call, argv...)}
	return []Input{in}
}

var _ = prove(map[string]proof{
	"MCPA-EXEC-005": {finds: optionally("target", "git", "diff", "--marlow-c7"), spares: optionally("target", "git", "diff", "--", "--marlow-c7")},
})

// TestAttackedOptions: what no program takes for an option is none.
func TestAttackedOptions(t *testing.T) {
	for name, in := range map[string][]Input{
		"of another option":                       optionally("message", "git", "commit", "-m", "--marlow-c7"),
		"of what has no harm":                     optionally("text", "echo", "--marlow-c7"),
		"a field for options":                     optionally("extra_args[0]", "git", "diff", "--marlow-c7"),
		"part of a word":                          optionally("target", "git", "diff", "--output=--marlow-c7"),
		"behind what says that no options follow": optionally("target", "git", "diff", "--end-of-options", "main", "--marlow-c7"),
		"of a script":                             optionally("text", "python3", "-u", "/srv/words.py", "--marlow-c7"),
		"of a script of node":                     optionally("text", "/usr/bin/node", "/srv/slug.js", "--marlow-c7"),
		"of a module":                             optionally("text", "python3.11", "-m", "words", "--marlow-c7"),
		"of an archive":                           optionally("text", "java", "-jar", "words.jar", "--marlow-c7"),
		"of a command there":                      optionally("text", "ssh", "-T", "host", "df", "--marlow-c7"),
		"of one in a box":                         optionally("text", "docker", "exec", "-u", "me", "box", "wc", "--marlow-c7"),
		"among letters":                           optionally("message", "git", "commit", "-am", "--marlow-c7"),
		"of a known option":                       optionally("text", "ssh", "-o", "--marlow-c7", "host"),
	} {
		t.Run(name, func(t *testing.T) { expect(t, in[0], "") })
	}
	behind := optionally("target", "git", "diff", "HEAD", "--marlow-c7")
	behind[0].Attack.Attempts[0].Value = "HEAD --marlow-c7"
	expect(t, behind[0], `EXEC-005 Medium`)
	valued := optionally("url", "curl", "-s", "--marlow-c7=https://example.com")
	valued[0].Attack.Attempts[0].Value = "--marlow-c7=https://example.com"
	expect(t, valued[0], `EXEC-005 Medium`)
	for name, in := range map[string][]Input{
		"behind a switch":         optionally("branch", "git", "log", "-n", "10", "--oneline", "--marlow-c7"),
		"behind a letter":         optionally("host", "ssh", "-o", "BatchMode=yes", "-T", "--marlow-c7", "df"),
		"of who runs a script":    optionally("page", "node", "--marlow-c7"),
		"behind code of a script": optionally("word", "node", "-e", "x()", "--marlow-c7"),
	} {
		t.Run(name, func(t *testing.T) { expect(t, in[0], "EXEC-005 Medium") })
	}
	expect(t, optionally("target", "git", "diff", "--marlow-c7")[0], `EXEC-005 Medium: Tool format_note gave its argument "target" to git`)
}

// TestComplainedOf: who says that an option is not known has taken the word for one.
func TestComplainedOf(t *testing.T) {
	for answer, want := range map[string]string{
		"grep: unrecognized option '--marlow-c7'\nUsage: grep": "EXEC-005 Medium",
		"wc: invalid option -- '--marlow-c7'":                  "EXEC-005 Medium",
		"error: unexpected argument '--marlow-c7' found":       "EXEC-005 Medium",
		"find: unknown predicate `--marlow-c7'":                "EXEC-005 Medium",
		"error: unknown option `marlow-c7'\nusage: git":        "EXEC-005 Medium",
		"unrecognized option '--marlow-c70'":                   "",
		"ls: invalid argument '--marlow-c7' for '--color'":     "",
		"fatal: ambiguous argument '--marlow-c7'":              "",
		"fatal: bad revision '--marlow-c7'":                    "",
		"unknown revision --marlow-c7":                         "",
		"--marlow-c7: no such file":                            "",
		"":                                                     "",
	} {
		in := optionally("text", "grep", "-rin", "--marlow-c7", "/srv")[0]
		in.Attack.Attempts[0].Answer = answer
		t.Run(answer, func(t *testing.T) { expect(t, in, want) })
	}
	script := optionally("text", "python3", "words.py", "--marlow-c7")[0]
	script.Attack.Attempts[0].Answer = "words.py: error: unrecognized arguments: --marlow-c7"
	expect(t, script, "")
}
