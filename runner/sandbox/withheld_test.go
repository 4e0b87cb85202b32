package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// TestWithheld: what the sandbox keeps from the server is told from what it has and from
// what is not there.
func TestWithheld(t *testing.T) {
	top, err := os.MkdirTemp("/var/lib", "mcpaudit-test-")
	if err != nil {
		t.Skipf("there is no place outside the directories for temporary files: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	home := filepath.Join(top, "home")
	t.Setenv("HOME", home)
	for _, name := range []string{"app/server.sh", "app/private", "home/.tools/lib", "home/notes"} {
		write(t, filepath.Join(top, name), "exit 1")
	}
	for name, mode := range map[string]os.FileMode{"": 0o755, "app/private": 0o600} {
		if err := os.Chmod(filepath.Join(top, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("/")
	launcher, err := sandbox.New([]string{"sh", filepath.Join(top, "app/server.sh")}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	withheld, ok := runWith(t, launcher).process.(interface{ Withheld(string) string })
	if !ok {
		t.Fatal("the process does not say what is withheld")
	}
	private := ""
	if os.Getuid() == 0 {
		private = "run mcpaudit in " + filepath.Join(top, "app")
	}
	for name, want := range map[string]string{
		"app/server.sh": "", "app/private": private, "app/absent": "", "home/notes": "",
		"home/.tools/lib": "does not show", "home/.tools": "does not show",
	} {
		if got := withheld.Withheld(filepath.Join(top, name)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := withheld.Withheld("/proc/1/environ"); got != "" {
		t.Errorf("what the kernel keeps is said to be a matter of directories: %q", got)
	}
}
