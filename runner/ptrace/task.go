package ptrace

import "github.com/mcpaudit/mcpaudit/runner/syscalls"

// task is a thread under trace.
type task struct {
	pid int
	// process is the ID of the process that the thread is in; 0 before it was looked up.
	process int
	// timed: it runs a program of the server, which sees another time; the programs that
	// start the server see the true time.
	timed bool
	// call is the one that the task is in, with the arguments that it was
	// entered with; nil outside of the traced calls.
	call      *syscalls.Call
	arguments [6]uint64
	// waits holds the timeout that the call asked for, if we shortened it; nil otherwise.
	waits *wait
	// stops counts how often we have stopped it.
	stops int64
	// entered is when it entered the call, in nanoseconds since the epoch.
	entered int64
	// head is the line as far as it is known, with so many arguments printed.
	// shown: it is in the trace, unfinished.
	head    []byte
	printed int
	shown   bool
	// asked has the name and the arguments of an execve, as printed; nil outside of one.
	asked []byte
	// child was made by the call, by our count of pids.
	child int
	// pids and space belong to pids.go; nil until they are needed.
	pids  []string
	space string
}

// processID returns the process that a thread belongs to.
func (t *task) processID() int {
	if t.process == 0 {
		t.process, _ = statusOf(t.pid)
	}
	return t.process
}

// maxHead bounds the buffer that a task keeps for its head, in bytes.
const maxHead = 4 << 10

// show notes that the head is in the trace. There may be many tasks, so none
// keeps much memory.
func (t *task) show() {
	t.shown, t.head = true, t.head[:0]
	if cap(t.head) > maxHead {
		t.head = nil
	}
}

// leave ends the call.
func (t *task) leave() {
	t.show()
	t.call, t.shown, t.printed, t.child, t.asked = nil, false, 0, 0, nil
}

// inherit takes over what a new task has from the one that made it. On a busy machine the new task may have executed
// its program before the tracer hears that it was made.
func (t *task) inherit(from *task) { t.timed = t.timed || from.timed }
