package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// ErrUnavailable means that this machine does not let the tracer work. The error
// that wraps it says in one line what to do about it.
var ErrUnavailable = errors.New("tracer is not available")

// program is the name of strace.
const program = "strace"

// Version returns the version of the installed strace, such as "6.1".
func Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, program, "-V").Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx) // which killed it
	}
	if err != nil {
		return "", Unavailable(err.Error())
	}
	first, _, _ := bytes.Cut(out, []byte("\n"))
	_, version, ok := bytes.Cut(first, []byte("version "))
	if !ok {
		return "", Unavailable(string(first))
	}
	return strings.TrimSpace(string(version)), nil
}

// Unavailable wraps ErrUnavailable in a remedy for strace's message on standard
// error.
func Unavailable(said string) error {
	said = strings.TrimSpace(said)
	return fmt.Errorf("%w: %s (%s)", ErrUnavailable, fix(said), said)
}

// fix returns the remedy for an error message of strace, in one line.
func fix(said string) string {
	switch {
	case strings.Contains(said, "executable file not found"), strings.Contains(said, "no such file"):
		return "install strace 6.1 or newer"
	case strings.Contains(said, "Operation not permitted"), strings.Contains(said, "PTRACE_SEIZE"),
		strings.Contains(said, "PTRACE_TRACEME"), strings.Contains(said, "Permission denied"):
		if yama() == "3" {
			return "kernel.yama.ptrace_scope is 3, which forbids tracing until the next boot: set it to 1 and reboot"
		}
		return "give the tracer CAP_SYS_PTRACE, and a seccomp profile that allows ptrace"
	case strings.Contains(said, "Function not implemented"), strings.Contains(said, "Bad system call"):
		return "the seccomp profile of the tracer forbids ptrace: allow it"
	case strings.Contains(said, "unrecognized option"), strings.Contains(said, "invalid system call"),
		strings.Contains(said, "invalid option"):
		return "strace is too old: install 6.1 or newer"
	}
	return "the tracer could not start"
}

// yama returns the mode of the Yama security module (ptrace(2)); "" without it.
func yama() string {
	mode, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(mode))
}

// optional joins names for strace's -e: "?a,?b" means those that this architecture has.
func optional(names []string) string { return "?" + strings.Join(names, ",?") }

// straceFlags returns the arguments common to attaching and wrapping; see strace(1)
// of 6.1.
//
//   - -f follows children and threads; with -o every line begins with a pid.
//   - -q drops the messages of attaching, and keeps "+++ exited" lines: if one
//     is missing, the tracer ended before the process. "killed" lines are only
//     printed for signals in the set of -e signal; those left out are ignored by
//     default and merely noise.
//   - -yy resolves descriptors, -ttt -T give entry and duration in microseconds.
//   - -e abbrev prints the environment of a program in full, and nothing else.
//   - -s cuts strings. --decode-pids translates clone's result when the server
//     has a PID namespace of its own.
func straceFlags(file string) []string {
	args := []string{
		"-f", "-q", "-yy", "-ttt", "-T", "-s", strconv.Itoa(MaxData), "--decode-pids=pidns",
		"-e", "abbrev=!execve,execveat",
		"-e", "signal=!CHLD,URG,WINCH,CONT",
		"-e", "trace=" + optional(syscalls.Names()),
	}
	refused := syscalls.Refused()
	for _, errno := range slices.Sorted(maps.Keys(refused)) {
		args = append(args, "-e", "inject="+optional(refused[errno])+":error="+unix.ErrnoName(errno))
	}
	return append(args, "-o", file)
}
