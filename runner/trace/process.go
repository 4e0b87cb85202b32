package trace

import (
	"cmp"
	"slices"
	"strings"
)

// process holds what the threads of one have in common.
type process struct {
	pid int
	// number is its pid in its own namespace, which the names in /proc that it
	// opens have; 0 where that is the tracer's too, or not known.
	number int
	// nested: it has a PID namespace of its own, and the tracer translates what its
	// clones return.
	nested bool
	// parent is the process that started it; nil when that has gone, or was
	// never seen.
	parent *process
	// lineage and origins are those of Event.
	lineage bool
	origins []Position
	fed     Position
	daemon  bool
	gone    bool
	killed  bool
	// forebears are the pids of its ancestors, the nearest last: it may have
	// their descriptors. memory: one of these is a file in memory.
	forebears []int
	memory    bool
	// within becomes Event.Within of the next program that it runs, program its Event.Program.
	within, program string
}

// maxForebears bounds process.forebears, MaxWithin Event.Within and Event.Program in bytes.
const (
	maxForebears = 16
	MaxWithin    = 256
)

// launched records that a process executes a program. What runs before the first
// request belongs to the server, and so does whatever the main process executes.
func (p *process) launched(program string, at Position, root int) {
	p.program = strings.Clone(program[:min(len(program), MaxWithin)])
	if p.within == "" && at.In > 0 && p.pid != root {
		p.within = p.program
	}
}

// startedBy records a fork: by whom, and where the conversation was. root is
// the main process, which has no lineage, like everything above it.
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
		p.within = cmp.Or(parent.within, p.within) // it may have run a program before its fork was heard of
	}
	n := len(p.origins)
	if at.In == 0 || n == MaxOrigins || n > 0 && p.origins[n-1] == at {
		return
	}
	p.origins = append(p.origins[:n:n], at) // never into the parent's
}

// end leaves the children behind. (The chain of ancestors ends here: otherwise
// a server that forks and exits without end would make it ever longer.)
func (p *process) end() { p.gone, p.parent = true, nil }

// daemonised reports whether the process lives on without its parent, or has
// left its session.
func (p *process) daemonised() bool {
	if p.parent != nil && p.parent.gone {
		p.daemon, p.parent = true, nil
	}
	return p.daemon
}

// leftBehind is daemonised without regard to a parent that was killed: at the end
// of an audit that is the way of all.
func (p *process) leftBehind() bool {
	return p.daemon || p.parent != nil && p.parent.gone && !p.parent.killed
}

// guess gives a task that is heard of before the clone that made it has
// returned to its process. parents are those that are in a clone; thread: all
// of them are making threads.
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
