package ptrace_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// swapArg makes the test binary a program that executes a shell while another thread changes what the shell is to do.
const swapArg = "swap-an-argument"

func swap() int {
	path, name, option, script := []byte("/bin/sh\x00"), []byte("sh\x00"), []byte("-c\x00"), []byte("exit 3\x00")
	argv, env := []*byte{&name[0], &option[0], &script[0], nil}, []*byte{nil}
	var times atomic.Int64
	go func() {
		runtime.LockOSThread()
		for {
			script[len("exit ")] = byte('3' + times.Add(1)&1)
		}
	}()
	for start := times.Load(); times.Load() < start+1<<16; { // it runs now
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	fmt.Fprintln(os.Stderr, errno)
	return 1
}

// TestY2ArgumentsThatTheKernelTook: whatever a program was executed with is in the trace, even if another thread has
// changed it since the call was entered.
func TestY2ArgumentsThatTheKernelTook(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 24 {
		cfg := trace.Config{Backend: plan.TracerPtrace, File: filepath.Join(t.TempDir(), "trace")}
		argv := trace.Wrap(cfg, []string{self, swapArg})
		var exit *exec.ExitError
		if err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Run(); !errors.As(err, &exit) || exit.ExitCode() < 3 {
			t.Fatal(err)
		}
		text, err := os.ReadFile(cfg.File)
		if err != nil {
			t.Fatal(err)
		}
		session, err := trace.Follow(cfg)
		if err != nil {
			t.Fatal(err)
		}
		session.Ended()
		did, seen := fmt.Sprint("exit ", exit.ExitCode()), false
		if err := session.Run(t.Context(), func(e trace.Event) {
			seen = seen || e.Op == trace.OpExec && e.Path == "/bin/sh" && strings.Join(e.Argv, "|") == "sh|-c|"+did
		}); err != nil {
			t.Fatal(err)
		}
		if !seen || session.Stats().Unparsed > 0 {
			t.Fatalf("no sign of %q: %s", did, text)
		}
	}
}
