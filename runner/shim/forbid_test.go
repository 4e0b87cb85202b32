package shim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// vsockArg makes the test binary a server that makes a socket of AF_VSOCK.
const vsockArg = "make-vsock"

// playServer makes the socket if the arguments ask for it.
func playServer() {
	if len(os.Args) == 2 && os.Args[1] == vsockArg {
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		fmt.Println("still here:", err)
		os.Exit(0)
	}
}

// TestVsockIsForbiddenAndSeen: as in a Pod, with strace attached.
func TestVsockIsForbiddenAndSeen(t *testing.T) {
	c := start(t, "/proc/self/exe", vsockArg)
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	run, err := c.Setup(ctx, shim.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	session, err := trace.Attach(ctx, run.PID, trace.Config{
		File: filepath.Join(t.TempDir(), "trace"), Stdin: run.StdinInode, Stdout: run.StdoutInode,
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	traced := make(chan error, 1)
	go func() {
		traced <- session.Run(ctx, func(e trace.Event) { seen = seen || e.Op == trace.OpEvade && e.Syscall == trace.Forbidden })
	}()
	if err := c.Go(ctx, ptrace.AtNone); err != nil {
		t.Fatal(err)
	}
	if out := readAll(t, run.Stdout); out != "" {
		t.Errorf("the server says %q", out)
	}
	wait(t, run.Exited())
	if status, known := run.Status(); !known || status.Signal() != syscall.SIGSYS {
		t.Errorf("status %v, %v; want SIGSYS", status, known)
	}
	if err := <-traced; err != nil {
		t.Error(err)
	}
	if !seen {
		t.Error("the attempt is not in the trace")
	}
	if stats := session.Stats(); stats.Unparsed != 0 || stats.Alive != 0 {
		t.Errorf("stats %+v", stats)
	}
}
