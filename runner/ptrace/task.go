package ptrace

import "github.com/mcpaudit/mcpaudit/runner/syscalls"

// task is a thread under trace.
type task struct {
	pid int
	// process is the ID of the process that the thread is in; 0 before it was looked up.
	process int
	// timed: it runs a program of the server, which sees another time; what started the
	// server sees the true one.
	timed bool
	// call is the one that the task is in, with the arguments that it was
	// entered with; nil outside of the traced calls.
	call      *syscalls.Call
	arguments [6]uint64
	// waits holds the timeout that the call asked for, if we shortened it; nil otherwise.
	waits *wait
	// stops is how often we have stopped it.
	stops int64
	// entered is when, in nanoseconds since the epoch.
	entered int64
	// head is the line up to where it is known, and printed how many arguments
	// it has. shown: it stands in the trace as unfinished.
	head    []byte
	printed int
	shown   bool
	// child was made by the call, by our count of pids.
	child int
	// pids and space are those of pids.go; nil while nobody has asked.
	pids  []string
	space string
}

// processID is the process that a thread belongs to.
func (t *task) processID() int {
	if t.process == 0 {
		t.process, _ = statusOf(t.pid)
	}
	return t.process
}

// maxHead is how much room for a head a task keeps, in bytes.
const maxHead = 4 << 10

// show says that the head stands in the trace. There may be many tasks, so that
// none keeps much.
func (t *task) show() {
	t.shown, t.head = true, t.head[:0]
	if cap(t.head) > maxHead {
		t.head = nil
	}
}

// leave ends the call.
func (t *task) leave() {
	t.show()
	t.call, t.shown, t.printed, t.child = nil, false, 0, 0
}

// inherit takes from the task that has made this one. On a busy machine the new one may have executed its
// program before the other tells of it.
func (t *task) inherit(from *task) { t.timed = t.timed || from.timed }
