package trace

import (
	"bytes"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// killed reports whether the process is known to have been killed in the call. The death is a separate event, Forbidden if
// a filter did it.
func (c *call) killed() bool { return c.unreturned() && !c.doubtful }

// unreturned reports whether the process was killed in the call, which may have done its work before.
func (c *call) unreturned() bool { return c.result.errno == unreturned }

// doubt takes a call that a filter may have stopped before it was made for one that never returned. strace prints the call's
// own number as the result then, because the kernel restores the registers (kernel/seccomp.c, syscall_rollback). A call that was made can have the same result: a descriptor of that number that
// another thread has closed, or the length of a link's target. The next line of the thread tells: see settle.
func (c *call) doubt() {
	number, ok := c.Native()
	if ok && !c.failed() && c.result.decor == nil && c.result.pid == int(number) {
		c.result.errno, c.doubtful = unreturned, true
	}
}

// doubtAttached is doubt for calls that are no evasion: only if strace stops at all calls, it prints those that a filter traps.
func (d *decoder) doubtAttached(c *call) {
	if d.cfg.Attached {
		c.doubt()
	}
}

// settle passes on the event of a doubtful call, unless the next line of its thread proves that a filter stopped the call.
// A SIGSYS for a call of that name does if strace stops at all calls: a second call of the name would have a line of its
// own. Else strace does not print what a filter traps, which outranks the filter that stops for strace (seccomp(2)). The
// death by SIGSYS does not say for which call it is, but makes an event in place of an evasion.
func (d *decoder) settle(t *task, l line) {
	if t == nil || t.doubtful == nil {
		return
	}
	e := *t.doubtful
	t.doubtful = nil
	trapped := d.cfg.Attached && string(l.trapped) == e.Syscall && !d.forging
	if !trapped && !(l.forbidden && e.Op == OpEvade) {
		d.pass(e)
	}
}

// forges reports whether a call may send a SIGSYS of any contents, which the kernel lets a process do to itself
// (rt_sigqueueinfo(2)).
func forges(s *spec, rest []byte) bool {
	return s.Op == syscalls.Kill && s.Args.Index(syscalls.Pointer) >= 0 && bytes.Contains(rest, []byte(Forbidden))
}

// trap returns the name of the call for which a filter has sent SIGSYS, from "SIGSYS {...}"; nil for another signal.
func trap(signal []byte) []byte {
	if !bytes.HasPrefix(signal, []byte(Forbidden+" {")) || !bytes.Contains(signal, []byte(" si_code=SYS_SECCOMP,")) {
		return nil
	}
	_, name, _ := bytes.Cut(signal, []byte(" si_syscall=__NR_"))
	name, _, _ = bytes.Cut(name, []byte(","))
	return name
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
