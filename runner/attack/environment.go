package attack

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// obeyed are environment variables that make a program run another one, or load a file:
// "!" stands for the command, "@" for the file. A server that filters some may miss others.
var obeyed = []struct{ variable, value string }{
	{"LD_PRELOAD", "@"},
	{"BASH_ENV", "$(!)"},
	{"NODE_OPTIONS", "--require=@"},
	{"LD_AUDIT", "@"},
	{"GIT_SSH_COMMAND", "!"},
	{"GIT_EXTERNAL_DIFF", "!"},
	{"PYTHONPATH", "@"},
	{"PERL5LIB", "@"},
	{"RUBYOPT", "-r@"},
	{"JAVA_TOOL_OPTIONS", "-javaagent:@"},
	{"LD_LIBRARY_PATH", "@"},
	{"PAGER", "!"},
	{"EDITOR", "!"},
}

// forEnvironment matches names of fields for the environment of a program.
var forEnvironment = lazyregexp.New(`(?i)(?:^|[_.-])env(?:iron(?:ment)?)?(?:[_-]?var(?:iable)?s?)?$`)

var (
	// ofEnvironment matches descriptions of what sets variables of the environment.
	ofEnvironment = lazyregexp.New(`(?i)\benviron(?:ment)?\b|\benv\b`)
	// forVariable matches names of fields for the name of a variable.
	forVariable = lazyregexp.New(`(?i)(?:key|name|variable|var|env)$`)
)

// environmentSteps returns the attempts with environment variables, for a field that takes any: an object, or a list of
// texts such as LANG=C.
func environmentSteps(fields []field, seen Seen) (all []step) {
	at := slices.IndexFunc(fields, func(f field) bool { return f.variables() || f.assignment() })
	if at < 0 || !seen.Programs || takeCommands(fields) {
		return nil
	}
	for _, each := range obeyed {
		if f := fields[at]; f.variables() {
			all = append(all, step{family: Command, form: variable(each.value), field: f.keyed(each.variable)})
		} else {
			all = append(all, step{family: Command, form: variable(each.variable + "=" + each.value), field: f})
		}
	}
	return all
}

// variableSteps returns the same attempts for the name of a variable and the value beside it. What a later call runs may get
// the variable, so they are made on tools that start no program, too. They come first: a name that is none may keep all
// later programs from starting.
func variableSteps(fields []field, said string) (all []step) {
	if !ofEnvironment.MatchString(said) || takeCommands(fields) {
		return nil
	}
	for _, f := range fields {
		value := slices.IndexFunc(fields, func(other field) bool {
			return other.called(forValue) && other.name != f.name && above(other.name) == above(f.name)
		})
		if value < 0 || !f.called(forVariable) || !bare.MatchString(f.core()) {
			continue
		}
		for _, each := range obeyed {
			all = append(all, step{family: Command, field: f, form: paired("as a variable of the environment, with its value beside it", each.variable, each.value, fields[value])})
		}
		return all
	}
	return nil
}

// takeCommands reports whether it is the purpose of a target to run commands.
func takeCommands(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return inputs.Commands(f.name) || inputs.IsCode(f.name) })
}

// variables reports whether a field is a key of the object for an environment, which takes any.
func (f field) variables() bool {
	_, isKey := f.steps[len(f.steps)-1].(string)
	return isKey && len(f.steps) > 1 && f.free && !f.number && forEnvironment.MatchString(above(f.name))
}

// assignment reports whether a field is the first text in the list for an environment.
func (f field) assignment() bool {
	_, isIndex := f.steps[len(f.steps)-1].(int)
	return isIndex && !f.next && f.text && forEnvironment.MatchString(strings.TrimSuffix(f.name, "[0]"))
}

// above returns the path of the parent of a field.
func above(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

func variable(pattern string) form {
	return form{name: "as a variable of the environment", write: func(_ field, m inputs.Mark, _ int) string {
		return strings.NewReplacer("!", m.Command(), "@", m.OutsideFile()).Replace(pattern)
	}}
}
