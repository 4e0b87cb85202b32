package attack

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Attempts over two arguments: a name that a server looks up, and beside it what the server hands to what it has found.

// dispatched are names of functions that run a text, and the text: "{}" stands for the honest name, "!" for the command, "@"
// for the file. Each object of JavaScript inherits a constructor, and the constructor of that one makes a function of
// a text, which a server runs that calls what its helpers return.
var dispatched = []struct {
	name, text string
	family     Family
}{
	{"constructor.constructor", returned, Code},
	{"{}.constructor", returned, Code},
	{"os.system", "!", Command},
	{"eval", python, Code},
	{"builtins.eval", python, Code},
	{"subprocess.getoutput", "!", Command},
}

// returned is the body of a function that opens the file.
const returned = `return process.getBuiltinModule("fs").readFileSync("@")`

const (
	maxDispatched = 2 // names in one target
	maxFunctions  = 8 // for one name
)

var (
	// forFunction matches names and descriptions of arguments that name a function.
	forFunction = lazyregexp.New(`(?i)\b(?:fn|func(?:tion)?s?|method|operat(?:ion|or)|op|helpers?|transform(?:er|ation)?|filter|formatter|handler|callback|callable|aggregat(?:e|ion|or)|reducer|validator|converter|macro|action|builder)\b`)
	// identifier matches the name of a function, maybe within an object or a module.
	identifier = lazyregexp.New(`^[A-Za-z_$][\w$]*(?:[.:][A-Za-z_$][\w$]*){0,4}$`)
)

// dispatchSteps returns the attempts on arguments that name a function, with the text for it in an argument beside.
func dispatchSteps(fields []field) (all []step) {
	names := 0
	for _, f := range fields {
		at := slices.IndexFunc(fields, f.hands)
		if at < 0 || !f.ofFunction() || names == maxDispatched {
			continue
		}
		names++
		for _, each := range dispatched {
			all = append(all, step{family: each.family, field: f, form: paired("as the name of a function that runs what stands beside it", each.name, each.text, fields[at])})
		}
	}
	return all
}

// ofFunction reports whether a field takes the name of a function.
func (f field) ofFunction() bool {
	return f.text && !f.next && !f.item && identifier.MatchString(f.core()) && f.speaksOf(forFunction)
}

// hands reports whether another field may be what is handed to the function of that name: a text beside it, or the first of a
// list, that is not there to be run.
func (f field) hands(other field) bool {
	return other.text && !other.next && !other.item && other.name != f.name && !other.speaksOf(forFunction) && !inputs.IsCode(other.name) &&
		!inputs.Commands(strings.TrimPrefix(other.name, "args")) && above(strings.TrimSuffix(other.name, "[0]")) == above(f.name)
}

// paired is a form with a pattern for a value, and another one for the value beside it.
func paired(name, pattern, other string, beside field) form {
	write := func(pattern string, f field, m inputs.Mark, number int) string {
		return f.before + strings.NewReplacer("{}", f.core(), "!", m.Command(), "@", target(m, number)).Replace(pattern) + f.behind
	}
	return form{
		name:   name,
		beside: &beside,
		write:  func(f field, m inputs.Mark, number int) string { return write(pattern, f, m, number) },
		also:   func(m inputs.Mark, number int) string { return write(other, beside, m, number) },
	}
}

// target is the file of an attempt: the numbered one, or that of a command, which has none.
func target(m inputs.Mark, number int) string {
	if number == 0 {
		return m.OutsideFile()
	}
	return file(number)
}
