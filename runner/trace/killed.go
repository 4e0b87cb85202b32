package trace

import "github.com/mcpaudit/mcpaudit/runner/syscalls"

// stopped reports whether a filter stopped the call before it was made. strace then
// sees the entry, if it stops at entries, and as "result" the call's own number, which
// the kernel restores (kernel/seccomp.c, syscall_rollback). It is no descriptor, which
// would be decorated, and no child, whose pid in its own PID namespace would be
// translated.
func (c *call) stopped() bool {
	number, ok := c.Native()
	return ok && !c.failed() && c.result.decor == nil && c.result.pid == int(number)
}

// killed reports whether a filter killed the process for this call. The death is a
// separate event (Forbidden); whether the call itself is seen depends on the tracer.
func (c *call) killed() bool { return c.stopped() || c.unreturned() }

// unreturned reports whether the process was killed in the call, which may have done its work before.
func (c *call) unreturned() bool { return c.result.errno == unreturned }

// doubt takes a call that a filter may have stopped for one that never returned. A call that was made can have the same
// result: a descriptor of that number that another thread has closed, or the length of a link's target. The next line of
// the thread tells: a filter that stops a call sends SIGSYS.
func (c *call) doubt() {
	if c.stopped() {
		c.result.errno, c.doubtful = unreturned, true
	}
}

// settle passes on the event of a doubtful call, unless the line says that a filter stopped it.
func (d *decoder) settle(t *task, l line) {
	if t == nil || t.doubtful == nil {
		return
	}
	e := *t.doubtful
	if t.doubtful = nil; !l.forbidden {
		d.pass(e)
	}
}

// forbidden reports a task that a seccomp filter killed. The call itself may be
// missing: a filter that kills takes precedence over that of --seccomp-bpf.
func (d *decoder) forbidden(l line) {
	t := d.task(l.pid) // its first call may have killed it, before its parent's clone returned
	if !t.inside {
		return
	}
	c := call{spec: &spec{Call: syscalls.Call{Name: Forbidden}}, task: t, time: l.time, at: d.at, result: returned{errno: unreturned}}
	d.emit(&c, Event{Op: OpEvade, Detail: "+++ killed by " + Forbidden + " +++"})
}
