package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// crowd makes more entries in a directory than are shown one by one.
func crowd(t *testing.T, dir string) {
	t.Helper()
	for i := range 4200 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("beside-%d", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCrowdedDirectory: a server is audited in a directory of very many, with overlays
// and without: it sees the others and has its own.
func TestCrowdedDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only for root a directory is taken apart that no rule covers")
	}
	top, err := os.MkdirTemp("/var/lib", "mcpaudit-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	crowd(t, top)
	write(t, filepath.Join(top, "group/project/mine"), "mine")
	write(t, filepath.Join(top, "private.sh"), "cat mine ../../beside-7; echo; ls ../.. | wc -l; echo more >> mine && cat mine; echo changed > ../../new && cat ../../new")
	for path, mode := range map[string]os.FileMode{"": 0o700, "private.sh": 0o600, "group/project": 0o700, "group/project/mine": 0o600} {
		if err := os.Chmod(filepath.Join(top, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(top, "group/project"))
	t.Setenv("HOME", "/home/ellis-test")
	command := []string{"sh", filepath.Join(top, "private.sh")}
	o := run(t, command...)
	t.Logf("stdout %q, stderr %q, notes %q", o.stdout, o.stderr, o.notes)
	if o.stdout != "minex\n4202\nminemore\nchanged\n" {
		t.Errorf("the server saw %q", o.stdout)
	}
	launcher, err := sandbox.New(command, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	launcher.BindOnly()
	o = runWith(t, launcher)
	t.Logf("stdout %q, stderr %q, notes %q", o.stdout, o.stderr, o.notes)
	if o.stdout != "mine\n2\nchanged\n" || !strings.Contains(strings.Join(o.notes, " "), "only what its command names") {
		t.Errorf("without overlays the server saw %q", o.stdout)
	}
}

// TestCrowdedTmp: what the server does not see does not count.
func TestCrowdedTmp(t *testing.T) {
	top := t.TempDir()
	crowd(t, top)
	write(t, filepath.Join(top, "group/project/mine"), "mine")
	t.Chdir(filepath.Join(top, "group/project"))
	if o := shell(t, "cat mine; ls ../.."); o.stdout != "minegroup\n" {
		t.Errorf("the server saw %q", o.stdout)
	}
}

// TestCrowdedHome: a home of which too much would be visible is refused in one line.
func TestCrowdedHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	crowd(t, home)
	launcher, err := sandbox.New([]string{"true"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	_, err = launcher.Launch(t.Context(), audit.Start{})
	if err == nil || !strings.Contains(err.Error(), "set HOME to another one") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
