package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestV4OpenOfWhatIsShown: a server that makes a file of its own where the user has one that it is not shown has nobody read
// that one, by that path or by a link of its checkout.
func TestV4OpenOfWhatIsShown(t *testing.T) {
	home, err := os.MkdirTemp("/var/lib", "mcpaudit-test-")
	if err != nil {
		t.Skipf("there is no place outside the directories for temporary files: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	for _, dir := range []string{".private", "app"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".private/settings.py", "app/server.py"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../.private", filepath.Join(home, "app/lib")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(home, "app/pipe.py"), 0o644); err != nil {
		t.Fatal(err)
	}
	launcher := Launcher{view: newView(home, nil, []string{filepath.Join(home, "app")}, nil)}
	for name, want := range map[string]bool{"app/server.py": true, ".private/settings.py": false, "app/lib/settings.py": false, "app/pipe.py": false} {
		file, err := launcher.Open(filepath.Join(home, name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = file.Close()
		}
	}
}
