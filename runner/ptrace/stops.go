package ptrace

import (
	"bytes"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// groupStop is PTRACE_EVENT_STOP: the stop of a new task, or by job control.
const groupStop = unix.PTRACE_EVENT_STOP

// syscallStop is the stop of PTRACE_O_TRACESYSGOOD.
const syscallStop = syscall.SIGTRAP | 0x80

// changed handles the status of a task from wait(2).
func (t *tracer) changed(pid int, status syscall.WaitStatus) {
	if !status.Stopped() {
		t.ended(pid, status)
		return
	}
	k := t.task(pid)
	switch event := int(status >> 16); {
	case event == unix.PTRACE_EVENT_SECCOMP:
		t.enter(k)
	case status.StopSignal() == syscallStop:
		t.exit(k)
	case event == unix.PTRACE_EVENT_CLONE, event == unix.PTRACE_EVENT_FORK, event == unix.PTRACE_EVENT_VFORK:
		if k.child = eventMessage(pid); k.child != 0 {
			t.task(k.child).inherit(k)
		}
		t.resume(k, 0)
	case event == unix.PTRACE_EVENT_EXEC:
		k = t.replaced(k, eventMessage(pid))
		if !t.clock.True() {
			if k.timed = k.timed || t.clock.begin(pid); k.timed {
				t.parting.began(k, t.printer.names)
			}
			hideTime(pid)
		}
		t.resume(k, 0)
	case event == groupStop:
		t.stopped(k, status.StopSignal())
	default:
		t.signalled(k, status.StopSignal())
	}
}

// stopped handles a task that is new, or that job control has stopped: that one
// stays stopped until job control lets it go on.
func (t *tracer) stopped(k *task, signal syscall.Signal) {
	switch signal {
	case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		t.note(k.pid, "--- stopped by ", unix.SignalName(signal), " ---")
		_ = request(unix.PTRACE_LISTEN, k.pid, 0, 0) // a task that is gone tells by its end
	default:
		t.resume(k, 0)
	}
}

// quiet are the signals that are noise: package trace has strace leave them
// out.
var quiet = map[syscall.Signal]bool{syscall.SIGCHLD: true, syscall.SIGURG: true, syscall.SIGWINCH: true, syscall.SIGCONT: true}

func (t *tracer) signalled(k *task, signal syscall.Signal) {
	if !quiet[signal] {
		name := string(appendSignal(nil, int(signal)))
		t.note(k.pid, "--- ", name, " {si_signo=", name, "} ---")
	}
	if t.parting.asked(k, signal) {
		t.clock.part()
	}
	t.resume(k, int(signal))
}

func (t *tracer) ended(pid int, status syscall.WaitStatus) {
	k := t.tasks[pid]
	delete(t.tasks, pid)
	if k != nil && k.call != nil {
		t.abandon(k)
	}
	t.printer.names.ended(pid)
	switch {
	case status.Signaled():
		core := ""
		if status.CoreDump() {
			core = " (core dumped)"
		}
		t.note(pid, "+++ killed by ", string(appendSignal(nil, int(status.Signal()))), core, " +++")
	default:
		t.note(pid, "+++ exited with ", strconv.Itoa(status.ExitStatus()), " +++")
	}
	if pid == t.root {
		t.code = status.ExitStatus()
		if status.Signaled() {
			t.code = 128 + int(status.Signal())
		}
	}
}

// replaced follows an execve: when a thread that is not the leader makes it, it
// becomes the leader, by number too, and the others are gone.
func (t *tracer) replaced(leader *task, former int) *task {
	if former == 0 || former == leader.pid {
		return leader
	}
	t.interrupt(nil)
	thread := t.task(former)
	t.note(leader.pid, "+++ superseded by execve in pid ", strconv.Itoa(former), " +++")
	delete(t.tasks, former)
	thread.pid, thread.process, thread.pids = leader.pid, leader.pid, nil
	t.tasks[leader.pid] = thread
	return thread
}

// enter handles the entry of a traced call.
func (t *tracer) enter(k *task) {
	if !t.learn(k, unix.PTRACE_SYSCALL_INFO_SECCOMP) {
		return
	}
	if k.call != nil {
		t.abandon(k)
	}
	c := t.calls[t.info.words[0]]
	copy(k.arguments[:], t.info.words[1:7])
	if of := t.timed[t.info.words[0]]; of != nil && k.timed {
		t.retime(k, of)
	}
	if c != nil && k.timed {
		if as := t.rewrite(k, c); as != nil {
			k.waits = as
		}
	}
	if c == nil || t.uninteresting(k, c) {
		t.resume(k, 0)
		return
	}
	t.interrupt(k)
	k.call, k.entered = c, time.Now().UnixNano()
	t.begin(k)
	if k.timed && (c.Op == syscalls.Connect || c.Op == syscalls.Send) && bytes.Contains(k.head, []byte("sa_family=AF_INET")) {
		t.clock.hold()
	}
	t.current = k
	if c.Refused != 0 {
		t.refuse(k)
		return
	}
	t.resume(k, 0)
}

// begin prints what is known of a call at its entry.
func (t *tracer) begin(k *task) {
	c := k.call
	k.head = append(append(k.head[:0], c.Name...), '(')
	if c.Op == syscalls.Exec {
		k.head, k.printed = t.printer.arguments(k.head, k, c.Args.Index(syscalls.Strings)+1, returned{})
		k.asked = program(c, k.head)
	}
	k.head, k.printed = t.printer.arguments(k.head, k, enters(c.Args), returned{})
}

// learn asks for the call at which a task is stopped; false if the task was
// killed meanwhile: its end comes next.
func (t *tracer) learn(k *task, op uint8) bool {
	errno := t.info.read(k.pid)
	if errno == 0 && t.info.op == op {
		return true
	}
	if errno != unix.ESRCH {
		// What cannot be seen must not happen.
		fatal(fmt.Errorf("ask for the call of process %d: %w: Linux 5.3 or newer is needed", k.pid, errno))
	}
	return false
}

// uninteresting reports whether a call needs no line: it reads from a file, or from a
// descriptor that has neither name nor peer.
func (t *tracer) uninteresting(k *task, c *syscalls.Call) bool {
	if c.Op != syscalls.Input && c.Op != syscalls.Output {
		return false
	}
	target := t.printer.names.descriptor(k, int(int32(k.arguments[0]))) //nolint:gosec // as the kernel takes it
	return nameless(target) || c.Op == syscalls.Input && isFile(target)
}

// refuse fails the call in the kernel's place.
func (t *tracer) refuse(k *task) {
	c := k.call
	if err := skip(k.pid, -int64(c.Refused)); err != nil {
		// It cannot be let go on, unless it is gone.
		_ = syscall.Kill(k.pid, syscall.SIGKILL)
		return
	}
	t.finish(k, returned{value: -int64(c.Refused), failed: true, refused: true})
	t.resume(k, 0)
}

// exit handles the return of a call.
func (t *tracer) exit(k *task) {
	if k.waits != nil {
		t.waited(k)
	}
	if k.call == nil {
		t.resume(k, 0) // of a call that waited, or was entered before we came
		return
	}
	if !t.learn(k, unix.PTRACE_SYSCALL_INFO_EXIT) {
		return
	}
	value, failed := t.info.result()
	if !failed && t.parting.ended(k, t.printer.names, value) {
		t.clock.part()
	}
	asked := k.asked
	t.finish(k, returned{value: value, failed: failed})
	if asked != nil && !failed {
		t.executed(k, asked)
	}
	t.resume(k, 0)
}

func (t *tracer) finish(k *task, r returned) {
	now := time.Now().UnixNano()
	c := k.call
	t.interrupt(k)
	begin := len(t.out)
	if k.shown {
		t.prefix(k.pid, now)
		t.out = append(append(append(t.out, "<... "...), c.Name...), " resumed>"...)
	} else {
		t.prefix(k.pid, k.entered)
		t.out = append(t.out, k.head...)
	}
	t.out, _ = t.printer.arguments(t.out, k, len(c.Args), r)
	if t.printer.unread && gone(k.pid) {
		// It was killed since it stopped, and its memory is gone.
		t.out = t.out[:begin]
		t.abandon(k)
		return
	}
	t.out = t.printer.result(append(t.out, ") = "...), k, r)
	t.out = append(appendSeconds(append(t.out, " <"...), now-k.entered), '>')
	if c.Op == syscalls.Connect {
		t.printer.names.changed(k, int(int32(k.arguments[0]))) //nolint:gosec // an int of the kernel's
	}
	t.line()
	t.current = nil
	k.leave()
}

// abandon writes a call that never returns: its task was killed in it.
func (t *tracer) abandon(k *task) {
	t.interrupt(k)
	if k.shown {
		t.prefix(k.pid, time.Now().UnixNano())
		t.out = append(append(append(t.out, "<... "...), k.call.Name...), " resumed>) = ?"...)
	} else {
		t.prefix(k.pid, k.entered)
		t.out = append(append(t.out, k.head...), ") = ?"...)
	}
	t.line()
	t.current = nil
	k.leave()
}
