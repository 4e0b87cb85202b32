package sandbox_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// TestL9NoSocketOfTheMachine: a unix socket of the machine is not there for the server,
// whether its directory is an overlay or bound.
func TestL9NoSocketOfTheMachine(t *testing.T) {
	work := t.TempDir()
	t.Setenv("HOME", "/home/mcpaudit-test")
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
