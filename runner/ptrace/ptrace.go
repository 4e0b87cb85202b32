// Package ptrace is our own tracer: a program that observes a process tree and
// writes what it sees in the language of strace(1), which package trace reads.
// It is a process of its own, a hidden subcommand of both of our programs
// (Stage), so that the runner survives its end and does not bear its memory:
//
//	ptrace-tracer --output FILE --clock CLOCK -- COMMAND...   wraps a command
//	ptrace-tracer --output FILE --clock CLOCK --attach PID    seizes a process that waits for it
//
// Package trace runs it, as the backend Ptrace.
//
// What is traced passes a seccomp filter (Install) that stops for the traced
// calls only, all others run at full speed. The filter is made by who is to be
// traced, just before its exec, and is fail-closed: without a tracer the traced
// calls give ENOSYS (seccomp(2), SECCOMP_RET_TRACE), and when the tracer ends in
// any way the kernel kills all that it traces (PTRACE_O_EXITKILL).
//
// The lines are those of strace 6.1 with the flags of package trace, with these
// differences: reads of files and of descriptors without a name make no line,
// nothing that the server could see comes of them; an absolute path has no
// working directory before it; sockets of any network namespace have their
// addresses, and those of unix domain do not name their peer.
package ptrace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// stageStart is the hidden subcommand that becomes the wrapped command.
const stageStart = "ptrace-start"

// exitBroken is the exit code of the tracer when it could not do its work; what
// it wrote to stderr says why. It is strace's.
const exitBroken = 1

// Stage runs the subcommand that args name and returns its exit code; false when
// args name none. A program that uses this package calls it first of all, on its
// main thread, locked: only the thread that seized a process can trace it, and
// it is the number of the main thread that TracerPid shows.
func Stage(args []string) (int, bool) {
	if len(args) == 0 {
		return 0, false
	}
	stages := map[string]func([]string) (int, error){trace.PtraceStage: runTracer, stageStart: runStart}
	run, ok := stages[args[0]]
	if !ok {
		return 0, false
	}
	runtime.LockOSThread()
	code, err := run(args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "ptrace:", err)
		return exitBroken, true
	}
	return code, true
}

type options struct {
	output  string
	clock   trace.Clock
	attach  int
	command []string
}

var errUsage = errors.New("usage: " + trace.PtraceStage + " --output FILE --clock CLOCK (--attach PID | -- COMMAND...)")

func parse(args []string) (o options, err error) {
	if len(args) < 6 || args[0] != "--output" || args[2] != "--clock" {
		return options{}, errUsage
	}
	o.output = args[1]
	if o.clock, err = trace.ParseClock(args[3]); err != nil {
		return options{}, fmt.Errorf("--clock %s: %w", args[3], err)
	}
	switch args[4] {
	case "--":
		o.command = args[5:]
		return o, nil
	case "--attach":
		if o.attach, err = strconv.Atoi(args[5]); err == nil && o.attach > 0 {
			return o, nil
		}
	}
	return options{}, errUsage
}

// runTracer traces until the last process has ended. It exits with the code of
// the wrapped command, 128 + signal when that was killed.
func runTracer(args []string) (int, error) {
	o, err := parse(args)
	if err != nil {
		return 0, err
	}
	file, err := os.OpenFile(o.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	t := newTracer(file, o.clock)
	if o.attach != 0 {
		if err := t.seize(o.attach); err != nil {
			return 0, err
		}
	} else if t.root, err = t.start(o.command, StopsFor(o.clock)); err != nil {
		return 0, err
	}
	return t.run()
}
