package trace

import (
	"cmp"
	"slices"
	"strings"
)

// process has what the threads of a process share.
type process struct {
	pid int
	// number is its pid in its own namespace, as in the names in /proc that it
	// opens; 0 if that is the tracer's namespace too, or not known.
	number int
	// nested: it has its own PID namespace, and the tracer translates the results of
	// its clones.
	nested bool
	// parent is the process that started it; nil if that is gone or was never
	// seen.
	parent *process
	// lineage and origins are as in Event.
	lineage bool
	origins []Position
	fed     Position
	daemon  bool
	gone    bool
	killed  bool
	// forebears are the pids of its ancestors, the nearest last: it may have
	// inherited their descriptors. memory: one of these is a file in memory.
	forebears []int
	memory    bool
	// within becomes Event.Within of the next program that it runs, program its Event.Program.
	within, program string
	// lookup: it, or an ancestor, is a shell that looks up the session; see SessionLookup.
	lookup bool
}

// maxForebears bounds process.forebears, MaxWithin Event.Within and Event.Program in bytes.
const (
	maxForebears = 16
	MaxWithin    = 256
)

// launched records that a process executes a program. Programs before the first
// request are the server's own, and so are those of the main process.
func (p *process) launched(program string, at Position, root int) {
	p.program = strings.Clone(program[:min(len(program), MaxWithin)])
	if p.within == "" && at.In > 0 && p.pid != root {
		p.within = p.program
	}
}

// startedBy records a fork: its parent, and the position of the conversation. root
// is the main process, which has no lineage, like everything above it.
func (p *process) startedBy(parent *process, at Position, root int) {
	if root == 0 || p.pid == root {
		return
	}
	p.lineage, p.origins = true, nil
	if parent != nil {
		p.parent, p.origins, p.fed = parent, parent.origins, parent.fed
		p.daemon = p.daemon || parent.daemonised()
		near := parent.forebears[max(0, len(parent.forebears)+1-maxForebears):]
		p.forebears, p.memory = append(slices.Clone(near), parent.pid), parent.memory
		p.program = cmp.Or(p.program, parent.program)
		p.lookup = p.lookup || parent.lookup
		p.within = cmp.Or(parent.within, p.within) // it may have run a program before its fork was seen to return
	}
	n := len(p.origins)
	if at.In == 0 || n == MaxOrigins || n > 0 && p.origins[n-1] == at {
		return
	}
	p.origins = append(p.origins[:n:n], at) // never into the parent's
}

// end marks the process as gone. (The chain of ancestors ends here: a server that
// forks and exits forever would make it ever longer.)
func (p *process) end() { p.gone, p.parent = true, nil }

// daemonised reports whether the process lives on without its parent, or has
// left its session.
func (p *process) daemonised() bool {
	if p.parent != nil && p.parent.gone {
		p.daemon, p.parent = true, nil
	}
	return p.daemon
}

// leftBehind is daemonised, except that a killed parent does not count: the end of an
// audit kills all.
func (p *process) leftBehind() bool {
	return p.daemon || p.parent != nil && p.parent.gone && !p.parent.killed
}

// guess assigns a process to a task that is seen before its clone has returned.
// parents are the processes in a clone; thread: all of these clones make threads.
func (d *decoder) guess(t *task, parents map[*process]bool, thread bool) {
	t.process = &process{pid: t.pid}
	if !t.inside {
		return
	}
	var parent *process
	for p := range parents {
		parent = p
	}
	if len(parents) != 1 {
		parent = nil
	}
	if thread && parent != nil {
		t.process, t.born = parent, d.at
		return
	}
	t.process.startedBy(parent, d.at, d.tasks.root)
}

// setsid makes a daemon of a process.
func (d *decoder) setsid(c *call) {
	if p := c.task.process; !c.failed() && p.pid != d.tasks.root {
		p.daemon = true
	}
}
