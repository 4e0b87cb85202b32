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
		path = file // through whichever link
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
	// Env has the part of the environment that matters; the rest stays private.
	c.text = bytes.Join(c.args[:min(len(c.args), first+2)], []byte(", "))
	if kind == textPointer && d.blind(c) {
		return
	}
	argv, cut := words(c.arg(first+1), nil)
	env, unread := words(c.arg(first+2), d.started)
	d.emit(c, Event{Op: OpExec, Path: path, Running: d.running(c), Argv: argv, Cut: cut, Env: env, Dir: c.task.fs.cwd})
	if worked {
		c.task.process.launched(path, c.at, d.tasks.root)
		c.task.process.started(path, argv, cut || unread, env)
	}
}

// running returns the file that an execve has started, if it can be known.
func (d *decoder) running(c *call) string {
	if c.failed() || d.executable == nil {
		return ""
	}
	return d.executable(c.task.process.pid)
}

// byDescriptor reports whether a name stands for a descriptor.
func byDescriptor(name string) bool {
	return strings.HasPrefix(name, "/proc/") && strings.Contains(name, "/fd/") || strings.HasPrefix(name, "/dev/fd/")
}

// Bounds of Event.Argv and Event.Env.
const (
	maxWords = 1024
	maxWord  = MaxData // bytes
)

// words decodes a vector of strings, without those in known. cut: there were more.
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

// environment has hashes of the variables, as printed, of the server's start.
type environment map[uint64]struct{}

// seed makes the hashes unpredictable.
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
