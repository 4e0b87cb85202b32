package ptrace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstFree is above all descriptors that the wrapped command may be meant to
// inherit; those below it are left alone.
const firstFree = 64

// traceOptions: follow all children, tell execs from traps, stop at the filter,
// and take everything along (ptrace(2)).
const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL

// start makes the process that becomes the command, and lets it go on when it is
// traced. It inherits our descriptors.
func (t *tracer) start(command []string, stops Stops) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	var gate [2]int
	if err := unix.Pipe2(gate[:], unix.O_CLOEXEC); err != nil {
		return 0, fmt.Errorf("make the gate: %w", err)
	}
	inherited, err := unix.FcntlInt(uintptr(gate[0]), unix.F_DUPFD, firstFree)
	if err != nil {
		return 0, fmt.Errorf("make the gate: %w", err)
	}
	argv := append([]string{self, stageStart, strconv.Itoa(inherited), strconv.Itoa(int(stops))}, command...)
	process, err := os.StartProcess(self, argv, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	_, _ = unix.Close(inherited), unix.Close(gate[0]) // the child's
	if err != nil {
		return 0, fmt.Errorf("start the command: %w", err)
	}
	pid = process.Pid
	if err := t.seize(pid); err != nil {
		return 0, err // our end closes the gate, which ends the child
	}
	_, err = unix.Write(gate[1], []byte{1})
	return pid, errors.Join(err, unix.Close(gate[1]))
}

// runStart is the process that becomes the command: it waits until it is traced.
func runStart(args []string) (int, error) {
	if len(args) < 3 {
		return 0, errUsage
	}
	gate, err := strconv.Atoi(args[0])
	stops, bad := strconv.Atoi(args[1])
	if err != nil || bad != nil {
		return 0, errUsage
	}
	unix.CloseOnExec(gate)
	if n, _ := unix.Read(gate, make([]byte, 1)); n != 1 {
		return exitBroken, nil // the tracer has said why
	}
	command := args[2:]
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0, err
	}
	// As strace does: a filter without it takes CAP_SYS_ADMIN.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("set no_new_privs: %w", err)
	}
	signal.Reset()
	if err := Install(Stops(stops)); err != nil {
		return 0, err
	}
	err = syscall.Exec(path, command, os.Environ())
	runtime.KeepAlive(command)
	return 0, fmt.Errorf("execute %s: %w", path, err)
}

// seize begins to trace every thread of a process. Threads that those make are traced from
// their start; but one that was being made when its maker was seized is not. So each is
// stopped before they are listed again, and all go on when none is new.
func (t *tracer) seize(pid int) error {
	seized := map[int]bool{}
	var stops []threadStop
	for more := true; more; {
		tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		if err != nil {
			return fmt.Errorf("attach to process %d: %w", pid, err)
		}
		more = false
		for _, entry := range tasks {
			tid, err := strconv.Atoi(entry.Name())
			if err != nil || seized[tid] {
				continue
			}
			seized[tid], more = true, true
			s, err := seizeThread(tid)
			if err != nil {
				return err
			}
			if s != nil {
				stops = append(stops, *s)
			}
		}
	}
	if len(stops) == 0 {
		return fmt.Errorf("attach to process %d: it has ended", pid)
	}
	for _, s := range stops {
		t.changed(s.tid, s.status)
	}
	return nil
}

// threadStop holds the status of a thread from wait(2).
type threadStop struct {
	tid    int
	status syscall.WaitStatus
}

// seizeThread begins to trace a thread, and stops it. It returns nil for one that has ended,
// or that was made by a thread that is traced.
func seizeThread(tid int) (*threadStop, error) {
	switch err := request(unix.PTRACE_SEIZE, tid, 0, traceOptions); {
	case err == unix.ESRCH, err == unix.EPERM && (hasEnded(tid) || tracerOf(tid) == os.Getpid()):
		return nil, nil
	case err != 0:
		return nil, fmt.Errorf("PTRACE_SEIZE of %d: %w", tid, err)
	}
	_ = unix.PtraceInterrupt(tid) // one that is gone tells by its end
	s := threadStop{tid: tid}
	for {
		_, err := syscall.Wait4(tid, &s.status, unix.WALL, nil)
		if err == nil {
			return &s, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("wait for %d: %w", tid, err)
		}
	}
}

// tracerOf returns the tracer of a thread; 0 for none.
func tracerOf(tid int) (tracer int) {
	_, tracer = statusOf(tid)
	return tracer
}

// hasEnded reports whether a thread is a zombie: PTRACE_SEIZE returns EPERM for that,
// too.
func hasEnded(tid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	return err != nil || bytes.Contains(status, []byte("\nState:\tZ")) || bytes.Contains(status, []byte("\nState:\tX"))
}
