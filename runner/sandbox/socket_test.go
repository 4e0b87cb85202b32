package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestL9NoSocketOfTheMachine: a unix socket of the machine is not there for the server,
// whether its directory is an overlay or bound.
func TestL9NoSocketOfTheMachine(t *testing.T) {
	work := t.TempDir()
	t.Setenv("HOME", "/home/ellis-test")
	t.Chdir(work)
	listener, err := net.Listen("unix", filepath.Join(work, "machine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for _, bound := range []bool{false, true} {
		launcher, err := sandbox.New([]string{"python3", "-c", `
import socket
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("machine.sock")
    print("connected")
except OSError as e:
    print("refused", e.errno)
`}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if bound {
			launcher.BindOnly()
		}
		if said := launchOnce(t, launcher); !strings.HasPrefix(said, "refused") {
			t.Errorf("bound %v: the server says %q", bound, said)
		}
		if err := launcher.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoDeviceOfTheMachine: where a directory of the machine is bound, its devices cannot be opened.
func TestNoDeviceOfTheMachine(t *testing.T) {
	work := t.TempDir()
	t.Setenv("HOME", "/home/ellis-test")
	t.Chdir(work)
	launcher, err := sandbox.New([]string{"sh", "-c", `while read device at type options; do case $at in "$PWD"|/usr) echo "$options";; esac; done </proc/self/mounts`}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	launcher.BindOnly()
	said := strings.TrimSpace(launchOnce(t, launcher))
	for line := range strings.Lines(said) {
		if !strings.Contains(line, "ro,") || !strings.Contains(line, "nodev") {
			t.Errorf("a mount has the options %q", line)
		}
	}
	if said == "" {
		t.Error("nothing is bound")
	}
}

// TestVsockIsForbiddenAndSeen: a socket that is in no network namespace is not
// made, and the attempt is in the trace, by the server as by a child.
func TestVsockIsForbiddenAndSeen(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(t.TempDir(), "server") // the trace takes self for a stage of the sandbox
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(server, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"server": {server, vsockArg},
		"child":  {"sh", "-c", `"$0" "$1"; echo ended with $?`, server, vsockArg},
	} {
		o := run(t, command...)
		seen := false
		for _, e := range o.events {
			seen = seen || e.Op == trace.OpEvade && e.Syscall == trace.Forbidden
		}
		if !seen || strings.Contains(o.stdout, "still here") {
			t.Errorf("%s: seen %v, stdout %q", name, seen, o.stdout)
		}
		if want := "ended with 159\n"; name == "child" && o.stdout != want { // 128 + SIGSYS
			t.Errorf("stdout %q, want %q", o.stdout, want)
		}
	}
}
