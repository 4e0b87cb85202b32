package trace

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// writing has the flags that make an open a change.
var writing = []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE", "O_ACCMODE"}

func (d *decoder) open(c *call) {
	d.doubtAttached(c)
	dir := c.kind(syscalls.Directory)
	c.learnCwd(dir)
	op, names := OpRead, []string{"O_WRONLY", "O_CREAT", "O_TRUNC"} // of creat
	if arg := c.kind(syscalls.OpenFlags); arg != nil {
		names = flags(arg)
	} else if how := c.kind(syscalls.OpenHow); how != nil {
		names = flags(field(how, "flags"))
	}
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(writing, name) }) {
		op = OpWrite
	}
	asked, kind := c.resolve(dir, c.kind(syscalls.Path))
	if kind == textPointer {
		d.blind(c)
	}
	found := asked
	if resolved, ok := filePath(c.result.decor); ok {
		d.opened(c, resolved)
		d.learnLink(asked, resolved)
		found = d.own(c, resolved, asked)
	}
	switch {
	case found == "" && c.Args.Index(syscalls.Path) < 0:
		d.evade(c) // a handle is opaque: only the result says what was opened
		return
	case op == OpWrite && d.foreignMemory(c, found, asked):
		d.emit(c, Event{Op: OpEvade, Path: ForeignMemory})
		return
	}
	e := Event{Op: op, Path: found, Flags: names, Dir: c.task.fs.cwd}
	if asked != found {
		e.Asked = asked
	}
	d.emit(c, e)
	d.byName(c, e, asked, "")
}

// byName makes the same event with the names that a call was given, where only these are of a file that matters. Another
// thread can put another descriptor in place of the result before the tracer asks for its file.
func (d *decoder) byName(c *call, e Event, name, target string) {
	if matters(e.Op, name) && !matters(e.Op, e.Path) || matters(e.Op, target) && !matters(e.Op, e.Target) {
		e.Path, e.Target, e.Asked = name, target, ""
		d.emit(c, e)
	}
}

// matters reports whether a name may be that of a secret or, if it is changed, of what is obeyed.
func matters(op Op, name string) bool {
	_, found := places.Sought(name)
	if !found && op != OpRead {
		_, found = places.ObeyedAt(name)
	}
	return found
}

// look makes the event of a look-up of a place that may hold secrets, or of a program. Runtimes look
// up thousands of other names when they start.
func (d *decoder) look(c *call) {
	d.doubtAttached(c)
	arg := c.Args.Index(syscalls.Path, syscalls.Entry)
	if len(c.arg(arg)) == len(`""`) { // of a descriptor
		return
	}
	dir := c.kind(syscalls.Directory)
	c.learnCwd(dir)
	name, _ := c.resolve(dir, c.arg(arg))
	if _, ok := places.Sought(name); ok {
		d.emit(c, Event{Op: OpLook, Path: name})
	} else if dir := path.Base(path.Dir(name)); dir == "bin" || dir == "sbin" {
		d.emit(c, Event{Op: OpSeek, Path: name})
	}
}

// mapped makes the event of a shared, writable mapping of a file.
func (d *decoder) mapped(c *call) {
	_, decor := descriptor(c.arg(4))
	d.load(c, decor)
	name, ok := storage(decor)
	if !ok || c.failed() || !hasFlag(c.arg(2), "PROT_WRITE") {
		return
	}
	d.emit(c, Event{Op: OpMap, Path: d.own(c, name, "")})
}

// memory makes the event of a file in memory: "/memfd:name".
func (d *decoder) memory(c *call) {
	if name, ok := filePath(c.result.decor); ok {
		d.opened(c, name)
		d.emit(c, Event{Op: OpWrite, Path: name})
	}
}

// own replaces the caller's own directory in /proc, whatever its number, by
// /proc/self (or thread-self). The number is of the server's own PID namespace:
// another process may have the number that the caller has for the tracer.
func (d *decoder) own(c *call, resolved, asked string) string {
	tail, ok := strings.CutPrefix(resolved, "/proc/")
	if !ok {
		return resolved
	}
	number, tail, _ := strings.Cut(tail, "/")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return resolved
	}
	mine := d.numberOf(c.task.process)
	self := path.Join("/proc/self", tail)
	thread, ok := strings.CutPrefix(tail, "task/")
	if ok {
		_, tail, _ = strings.Cut(thread, "/")
		thread = path.Join("/proc/thread-self", tail)
	}
	switch {
	case pid != mine && (mine != 0 || asked != self && (!ok || asked != thread)):
		return resolved
	case ok:
		return thread
	}
	return self
}

// numberOf returns the number of a process in the names in /proc that it opens; 0 if that is not known.
func (d *decoder) numberOf(p *process) int {
	if p.number == 0 && !d.tasks.nested {
		return p.pid
	}
	return p.number
}

// ForeignMemory is the Path of an OpEvade: the memory of another process, of whichever number. Who writes there can have it
// run any code.
const ForeignMemory = "/proc/PID/mem"

// memory matches the memory of processes and threads (proc(5)).
var memory = lazyregexp.New(`^/proc/\d+/(?:task/\d+/)?mem$`)

// foreignMemory reports whether a name leads to the memory of a process that is not the caller.
func (d *decoder) foreignMemory(c *call, resolved, asked string) bool {
	return memory.MatchString(d.own(c, resolved, asked))
}

// place is a file name in a call's arguments.
type place struct {
	dir, name []byte
	kind      syscalls.Arg // Path, Entry, or Text
}

// places returns the names of a change to files, in order.
func (c *call) places() []place {
	var all []place
	for i, kind := range c.Args {
		switch kind {
		case syscalls.Path, syscalls.Entry, syscalls.Text:
			p := place{name: c.arg(i), kind: kind}
			if i > 0 && c.Args[i-1] == syscalls.Directory {
				p.dir = c.arg(i - 1)
			}
			all = append(all, p)
		}
	}
	return all
}

// change makes the event of a change to a file, or to two.
func (d *decoder) change(c *call) {
	e := Event{Op: Op(c.Op)}
	if c.Args[0] == syscalls.Descriptor {
		_, decor := descriptor(c.arg(0))
		if name, ok := filePath(decor); ok { // else a pipe or a socket
			e.Path, e.Value = d.own(c, name, ""), c.value()
			d.emit(c, e)
		}
		return
	}
	d.astray, d.vague = false, false
	e.Value = c.value()
	asked, readable := d.changed(c, &e)
	if d.vague && strings.HasPrefix(c.Name, "mkdir") { // to have made a directory excuses what happens in it
		at := c.places()[0]
		e.Path, _ = c.join(at.dir, at.name)
	}
	if !readable {
		d.blind(c)
	}
	if !c.failed() || c.unreturned() {
		d.relinked(e, !c.failed())
		if d.astray || unplaced(e.Path) || e.Op == OpRename && unplaced(e.Target) {
			d.stats.Unplaced++
		}
	}
	d.emit(c, e)
	d.byName(c, e, asked.Path, asked.Target)
	if hasFlag(c.kind(syscalls.RenameFlags), "RENAME_EXCHANGE") {
		e.Path, e.Target = e.Target, e.Path
		d.emit(c, e)
	}
}

// instants matches the given times in a list; the kernel chooses the others.
var instants = lazyregexp.New(`tv_sec=(-?\d+), tv_nsec=(\d+)`)

// value returns the attributes that the call sets; "" for calls that set none.
func (c *call) value() string {
	if c.Op != syscalls.Attribute {
		return ""
	}
	var all []string
	for i, kind := range c.Args {
		switch kind {
		case syscalls.Octal, syscalls.Text, syscalls.Buffer:
			all = append(all, string(c.arg(i)))
		case syscalls.Times:
			for _, at := range instants.FindAllStringSubmatch(string(c.arg(i)), 2) {
				all = append(all, at[1]+"."+at[2])
			}
		}
	}
	return strings.Join(all, " ")
}

// changed sets the names of an event, and returns it as it was asked for: without the links that are followed. It is
// not readable if a name could not be read.
func (d *decoder) changed(c *call, e *Event) (asked Event, readable bool) {
	places := c.places()
	path, target := places[0], place{}
	switch e.Op {
	case OpRename:
		target = places[1]
	case OpLink: // it changes the new name: see Event.Target
		path, target = places[1], places[0]
	}
	c.learnCwd(path.dir)
	flags := c.kind(syscalls.AtFlags)
	var kind, targetKind textKind
	asked.Path, _ = c.resolve(path.dir, path.name)
	e.Path, kind = d.locate(c, path.dir, path.name, path.kind == syscalls.Path && !hasFlag(flags, "AT_SYMLINK_NOFOLLOW"))
	switch {
	case target.name == nil:
	case target.kind == syscalls.Text:
		e.Target, targetKind = linkText(e.Path, target.name)
		asked.Target = e.Target
	default:
		asked.Target, _ = c.resolve(target.dir, target.name)
		e.Target, targetKind = d.locate(c, target.dir, target.name, hasFlag(flags, "AT_SYMLINK_FOLLOW"))
	}
	return asked, kind != textPointer && targetKind != textPointer
}

// unplaced reports whether a name is relative to a directory that is not known.
func unplaced(name string) bool { return name != "" && !path.IsAbs(name) }
