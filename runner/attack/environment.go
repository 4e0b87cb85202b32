package attack

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// obeyed are variables of the environment by which another program is run, or a file loaded:
// "!" stands for the command, "@" for the file. Who starts a program with variables that it was
// given, and knows some, may not know all of these.
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

// forEnvironment are names of what the environment of a program is made of.
var forEnvironment = lazyregexp.New(`(?i)(?:^|[_.-])env(?:iron(?:ment)?)?(?:[_-]?var(?:iable)?s?)?$`)

// environmentSteps are the attempts to have a program obey a variable of its environment, where a
// place takes any.
func environmentSteps(fields []field, seen Seen) (all []step) {
	if slices.ContainsFunc(fields, func(f field) bool { return inputs.Commands(f.name) || inputs.IsCode(f.name) }) {
		return nil // to run commands is its purpose: a variable proves nothing more
	}
	for _, f := range fields {
		last := len(f.steps) - 1
		if last < 1 || f.number || !seen.Programs || !forEnvironment.MatchString(above(f.name)) {
			continue
		}
		if _, isKey := f.steps[last].(string); !isKey || !f.free {
			continue
		}
		for _, each := range obeyed {
			at := f
			at.name = above(f.name) + "." + each.variable
			at.steps = append(append([]any{}, f.steps[:last]...), each.variable)
			all = append(all, step{family: Command, form: variable(each.value), field: at})
		}
		break
	}
	return all
}

// above is the name of the place that holds another.
func above(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		return name[:at]
	}
	return ""
}

func variable(pattern string) form {
	return form{name: "as a variable of the environment", write: func(_ field, m inputs.Mark, _ int) string {
		return strings.NewReplacer("!", m.Command(), "@", m.OutsideFile()).Replace(pattern)
	}}
}
