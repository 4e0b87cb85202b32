package trace

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

func (d *decoder) exec(c *call) {
	first, dir := c.Args.Index(syscalls.Path), c.kind(syscalls.Directory) // path, argv, envp
	path, kind := c.resolve(dir, c.arg(first))
	if file, _ := d.locate(c, dir, c.arg(first), true); inMemory(file) {
		path = file // by whichever link
	} else if c.task.process.memory && byDescriptor(file) {
		path = "/memfd:? " + file // fcntl(F_DUPFD) is not traced
	}
	worked := !c.failed()
	if worked && !c.task.inside && path != d.cfg.Shim && (path != d.cfg.Reexec || path == "") {
		c.task.inside, c.task.sure = true, true
		d.made.note(c.spec, nil)
		if d.tasks.root == 0 {
			d.tasks.root, d.stats.Begun = c.task.process.pid, true
			d.started = newEnvironment(c.arg(first + 2))
		}
	}
	if !c.task.inside {
		return
	}
	// The environment is in Env as far as it matters; all of it is nobody's business.
	c.text = bytes.Join(c.args[:min(len(c.args), first+2)], []byte(", "))
	if kind == textPointer && d.blind(c) {
		return
	}
	argv, cut := words(c.arg(first+1), nil)
	env, _ := words(c.arg(first+2), d.started)
	d.emit(c, Event{Op: OpExec, Path: path, Argv: argv, Cut: cut, Env: env, Dir: c.task.fs.cwd})
	if worked {
		c.task.process.launched(path, c.at, d.tasks.root)
	}
}

// byDescriptor reports whether a name stands for a descriptor that is not known.
func byDescriptor(name string) bool {
	return strings.HasPrefix(name, "/proc/") && strings.Contains(name, "/fd/") || strings.HasPrefix(name, "/dev/fd/")
}

// The bounds of Event.Argv and Event.Env.
const (
	maxWords = 1024
	maxWord  = MaxData // bytes
)

// words decodes a vector of strings, without those that are in known. cut: there
// was more.
func words(array []byte, known environment) (all []string, cut bool) {
	for _, e := range elements(array) {
		if len(all) == maxWords {
			return all, true
		}
		if known != nil && known.has(e) {
			continue
		}
		word, kind := text(e)
		if kind == textWhole || kind == textCut {
			all = append(all, string(word[:min(len(word), maxWord)]))
		}
		cut = cut || kind == textCut || string(e) == "..."
	}
	return all, cut
}

// environment holds hashes of the variables, as printed, that the server was
// started with.
type environment map[uint64]struct{}

// seed makes the hashes unforeseeable.
var seed = maphash.MakeSeed()

func newEnvironment(array []byte) environment {
	e := environment{}
	for _, variable := range elements(array) {
		e[maphash.Bytes(seed, variable)] = struct{}{}
	}
	return e
}

func (e environment) has(variable []byte) bool {
	_, ok := e[maphash.Bytes(seed, variable)]
	return ok
}
