package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// TestPerson: a server that root starts for somebody's client is that person, in a home with the same files,
// and owns nothing outside; the next one is root again.
func TestPerson(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("for root only: anybody else is a person")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	launcher, err := sandbox.New([]string{"sh", "-c", `id -u; id -un; echo $USER $LOGNAME; dirname "$HOME"; basename "$HOME"; stat -c %U "$HOME/.ssh/id_rsa"
head -n 1 "$HOME/.ssh/id_rsa"; echo mine > "$HOME/new" && cat "$HOME/new"; grep Cap /proc/self/status | cut -f 2 | sort -u; cat /proc/self/uid_map | wc -l`}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := startWith(t, launcher, audit.Start{Person: true})
	lines := strings.Split(o.stdout, "\n")
	if len(lines) < 10 {
		t.Fatalf("stdout %q, stderr %q, notes %q", o.stdout, o.stderr, o.notes)
	}
	name := lines[1]
	want := []string{"1000", name, name + " " + name, "/home", name, name, "-----BEGIN RSA PRIVATE KEY-----", "mine", "0000000000000000"}
	if got := strings.Join(lines[:9], "|"); got != strings.Join(want, "|") || name == "root" {
		t.Errorf("the server saw %q, want %q", got, want)
	}
	if !sawRead(o.events, filepath.Join(home, ".ssh/id_rsa")) {
		t.Error("the trace does not name the key by the path that it was planted at")
	}
	o = startWith(t, launcher, audit.Start{})
	if !strings.HasPrefix(o.stdout, "0\nroot\n") {
		t.Errorf("the next one saw %q", o.stdout)
	}
}
