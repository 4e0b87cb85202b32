package inputs

import (
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Injected returns the name of the program in an Injection.
func (m Mark) Injected() string { return Word + "-run-" + m.label() }

// Command returns a command that runs a program that does not exist.
func (m Mark) Command() string { return "./" + m.Injected() }

// BareCommand runs the same program by one word without a slash: a shell without an
// argument 9 splits it in two, and env tries each directory of PATH.
func (m Mark) BareCommand() string { return "env$IFS$9" + m.Injected() }

// OutsideFile returns a missing file outside, with the name of the program, for attempts that choose which file a
// shell or a program opens.
func (m Mark) OutsideFile() string { return OutsideDir + "/" + m.Injected() }

// OpenedBy returns the number of the call whose OutsideFile a path is or passes through.
func OpenedBy(name string) (call int, ok bool) {
	rest, below := strings.CutPrefix(name, OutsideDir+"/")
	if !below {
		return 0, false
	}
	first, _, _ := strings.Cut(rest, "/")
	return InjectedBy(first)
}

// Injection appends a command to a value: a shell that gets it bare, in double or in
// single quotes, runs a program that does not exist. Escaped, or passed as an argument
// of its own, it is only an odd text.
func (m Mark) Injection(value string) string {
	command := m.Command()
	return value + "$(" + command + ")';" + command + ";:'"
}

// injections matches the program in a path, in any case of letters.
var injections = lazyregexp.New(`(?i)(?:^|/)` + Word + `-run-c(\d{1,9})$`)

// Injected reports whether a program was run by a Command.
func Injected(program string) bool { return injections.MatchString(program) }

// InjectedBy returns the number of the call whose Command runs a program.
func InjectedBy(program string) (call int, ok bool) {
	found := injections.FindStringSubmatch(program)
	if found == nil {
		return 0, false
	}
	call, err := strconv.Atoi(found[1])
	return call, err == nil
}

// HoldsInjection reports whether a text, such as the arguments of a call, has an
// Injection in it.
func HoldsInjection(text string) bool { return strings.Contains(text, Word+"-run-c") }

// plainly matches values that a shell takes for one word.
var plainly = lazyregexp.New(`^[\w./:@%+=,-]+$`)

// maxHonest bounds the calls before the one with an Injection.
const maxHonest = 6

// injecting makes the one call in which each text holds a command, except texts that
// are run anyway.
func (f *Form) injecting(pool *Pool, mark Mark) (Case, bool) {
	if f.probed || mark.Plain || len(f.given) > 0 {
		return Case{}, false
	}
	f.probed = true
	d, ok := f.aimed(ShapeInjection, -1, pool, mark)
	if !ok || !d.loaded {
		return Case{}, false
	}
	d.taken = set{} // a call that is refused for its texts takes no branch
	return f.send(d), true
}

// load returns a text with an injection for a place; false if the place cannot hold it.
func (d *draft) load(n *node) (string, bool) {
	if d.shape != ShapeInjection || n.kind != "" && n.kind != "string" || isProgram(n) || isPID(n) {
		return "", false
	}
	value, _ := d.madeUp(n).(string)
	if known := d.form.leaf(n, d.pool); known.best != nil {
		if text, is := known.best.value.(string); is {
			value = d.place().relocate(text, d.form.pointing(n))
		}
	}
	if !plainly.MatchString(value) {
		value = d.mark.ID()
	}
	value = d.mark.Injection(value)
	c := checker{resolver: resolver{root: d.form.root, allowance: budget}, short: no}
	if strings.Contains(d.form.pointing(n), "mail") || c.check(n.s, value, 0) == no {
		return "", false
	}
	d.loaded = true
	return value, true
}

// textual reports whether there is a place for a text at a node, or below.
func (n *node) textual() bool {
	for leaf := range n.leaves() {
		if leaf.kind == "string" || leaf.kind == "" {
			return true
		}
	}
	return false
}
