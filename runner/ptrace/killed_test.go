package ptrace

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestKilledAtTheExitOfACall: a process that is killed between its stop and the look at its memory
// has hidden nothing. Its call is printed as one that never returned.
func TestKilledAtTheExitOfACall(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	traced := newTracer(&out, trace.Clock{})
	k := traced.task(dead.Process.Pid)
	k.call = traced.calls[unix.SYS_READ]
	k.arguments = [6]uint64{0, 0x1000, 5}
	k.head, k.printed = traced.printer.arguments([]byte("read("), k, enters(k.call.Args), returned{})
	if k.call.Op != syscalls.Input {
		t.Fatalf("read is %v", k.call.Op)
	}
	traced.finish(k, returned{value: 5})
	traced.flush()
	if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, ") = ?") || strings.Count(got, "\n") > 0 || strings.Contains(got, "0x1000") {
		t.Errorf("printed %q", got)
	}
	if k.call != nil {
		t.Error("the call goes on")
	}
}
