package ptrace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// flushDelay bounds the wait of a line to be written: less than its reader
	// waits between two looks at the file.
	flushDelay = 2 * time.Millisecond
	// endPatience bounds the wait at the end for what is being handled.
	endPatience = time.Second
	// maxBuffered bounds the lines that wait, in bytes.
	maxBuffered = 256 << 10
)

// tracer runs on the thread that seized the tasks; only flush runs elsewhere.
type tracer struct {
	// root is the wrapped command, whose end is ours; 0 when attached.
	root  int
	code  int
	calls map[uint64]*syscalls.Call
	tasks map[int]*task
	// timed has the calls that the clock changes, by their numbers; none with the true time.
	clock   clock
	parting parting
	timed   map[uint64]*timed
	// rewritten has the content of files that are read with changes.
	rewritten map[reading]*rewritten
	// current is the task whose line has begun and is not complete.
	current *task
	printer *printer
	info    callInfo

	mu    sync.Mutex // of what follows
	file  io.Writer
	out   []byte
	dirty chan struct{}
}

func newTracer(file io.Writer, seen trace.Clock) *tracer {
	tasks := map[int]*task{}
	t := &tracer{
		calls: tracedCalls(), tasks: tasks, printer: newPrinter(tasks), clock: clock{Clock: seen}, rewritten: map[reading]*rewritten{},
		file: file, dirty: make(chan struct{}, 1),
	}
	if !seen.True() {
		t.timed = numbersOf(slices.Concat(timedCalls, stamped))
	}
	return t
}

// numbersOnly is the form of the arguments that nothing reads.
var numbersOnly = syscalls.Args{syscalls.Hex, syscalls.Hex, syscalls.Hex, syscalls.Hex, syscalls.Hex, syscalls.Hex}

// tracedCalls has the traced calls of this architecture by their numbers.
func tracedCalls() map[uint64]*syscalls.Call {
	all := map[uint64]*syscalls.Call{}
	for _, c := range syscalls.Table {
		if c.Args == nil {
			c.Args = numbersOnly
		}
		if number, ok := c.Native(); ok {
			all[uint64(number)] = &c
		}
	}
	return all
}

// run traces until nothing is left to trace.
func (t *tracer) run() (int, error) {
	// Our own parent is not interrupted by the tasks' stops; we
	// can wait for traced tasks all the same (wait(2), NOTES).
	signal.Ignore(syscall.SIGCHLD)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		// The server can make a page of its memory that is never read to its end.
		time.AfterFunc(endPatience, func() { os.Exit(0) })
		t.mu.Lock()
		t.flush()
		os.Exit(0) // and by PTRACE_O_EXITKILL all that is traced
	}()
	go t.flushLate()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			t.mu.Lock()
			t.flush()
			t.mu.Unlock()
			return t.code, nil
		case err != nil:
			return 0, fmt.Errorf("wait: %w", err)
		default:
			t.mu.Lock()
			t.changed(pid, status)
			t.mu.Unlock()
		}
	}
}

// fatal ends the tracer, and by PTRACE_O_EXITKILL all that it traces.
func fatal(err error) {
	fmt.Fprintln(os.Stderr, "ptrace:", err)
	os.Exit(exitBroken)
}

// flushLate writes what has waited long enough.
func (t *tracer) flushLate() {
	for range t.dirty {
		time.Sleep(flushDelay)
		t.mu.Lock()
		t.flush()
		t.mu.Unlock()
	}
}

// flush writes the lines. If it cannot, the trace would be incomplete: the tracer
// ends.
func (t *tracer) flush() {
	if len(t.out) == 0 {
		return
	}
	_, err := t.file.Write(t.out)
	t.out = t.out[:0]
	if err != nil {
		fatal(fmt.Errorf("write the trace: %w", err))
	}
}

// line ends a line.
func (t *tracer) line() {
	t.out = append(t.out, '\n')
	if len(t.out) > maxBuffered {
		t.flush()
	}
	select {
	case t.dirty <- struct{}{}:
	default:
	}
}

// prefix begins a line.
func (t *tracer) prefix(pid int, at int64) {
	t.out = appendPID(t.out, pid)
	t.out = append(appendSeconds(append(t.out, ' '), at), ' ')
}

// interrupt writes the begun line of another task, which comes before the next
// one in the trace.
func (t *tracer) interrupt(by *task) {
	c := t.current
	if c == nil || c == by {
		return
	}
	t.prefix(c.pid, c.entered)
	t.out = append(append(t.out, c.head...), " <unfinished ...>"...)
	t.line()
	c.show()
	t.current = nil
}

// note writes a line other than a call.
func (t *tracer) note(pid int, text ...string) {
	t.interrupt(nil)
	t.prefix(pid, time.Now().UnixNano())
	for _, s := range text {
		t.out = append(t.out, s...)
	}
	t.line()
}

// resume lets a task run on: to the exit of its call if it is in one.
func (t *tracer) resume(k *task, signal int) {
	k.stops++
	how := unix.PTRACE_CONT
	if k.call != nil || k.waits != nil {
		how = unix.PTRACE_SYSCALL
	}
	_ = request(how, k.pid, 0, uintptr(signal)) // a task that is gone tells by its end
}

// timedKin reports whether the process of a new thread, or the process that started it, is
// timed: the thread can stop before the clone that made it returns.
func (t *tracer) timedKin(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // of a task that is gone nothing follows
	for _, name := range []string{"\nTgid:", "\nPPid:"} {
		if kin := t.tasks[statusField(status, name)]; kin != nil {
			return kin.timed
		}
	}
	return false
}

func (t *tracer) task(pid int) *task {
	k := t.tasks[pid]
	if k == nil {
		k = &task{pid: pid, timed: t.clock.begun && t.timedKin(pid)}
		t.tasks[pid] = k
	}
	return k
}
