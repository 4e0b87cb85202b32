package ptrace_test

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

// untracedArg makes the test binary a program that has the filter and no tracer.
const untracedArg = "have-no-tracer"

// untraced tells by its exit code, for it cannot write, how a traced call and
// another one went: 3 when the one is refused and the other works.
func untraced() int {
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil || ptrace.Install(ptrace.AtCalls) != nil {
		return 1
	}
	code := 0
	if _, _, errno := unix.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0); errno == unix.ENOSYS {
		code++
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); errno == 0 {
		code += 2
	}
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(code), 0, 0)
	return 1
}

// TestNoTracerNoCalls: what nobody would see does not happen.
func TestNoTracerNoCalls(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", untracedArg)
	_ = cmd.Run() // the code says it
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}
