package lasting_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lasting"
)

// TestY1FilesThatAreObeyed: a file that is obeyed is found changed by whatever name that was done; others do not count.
func TestY1FilesThatAreObeyed(t *testing.T) {
	const home = "/home/server"
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"/home/server/.bashrc", "/home/server/.ssh/config", "/home/server/.profile", "/home/server/notes", "/etc/cron.d/job", "/app/rc"} {
		write(name)
	}
	w := lasting.Begin(root, home, false)
	if _, err := w.Changed(); err == nil {
		t.Error("known before the end")
	}
	if err := os.Symlink(at("/home/server/.ssh"), at("/app/link")); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Rename(at("/app/rc"), at("/app/link/rc")),
		os.Link(at("/home/server/.bashrc"), at("/app/other")),
		os.WriteFile(at("/app/other"), []byte("/home/server/.bashrc"), 0o600),
		os.Symlink("/etc/passwd", at("/etc/cron.d/link")),
		os.Remove(at("/home/server/.profile")),
		os.Chtimes(at("/etc/cron.d/job"), time.Unix(0, 0), time.Unix(0, 0)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"/home/server/notes", "/home/server/src/Makefile", "/home/server/.cache/x/Makefile", "/home/server/.config/systemd/user/x.service"} {
		write(name)
	}
	w.End()
	got, err := w.Changed()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/etc/cron.d/job", "/etc/cron.d/link", "/home/server/.bashrc", "/home/server/.config/systemd/user/x.service", "/home/server/.ssh/rc"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestY1RootThatIsGone: what could not be looked at is not unchanged.
func TestY1RootThatIsGone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	w := lasting.Begin(root, "/home/server", false)
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	w.End()
	if got, err := w.Changed(); err == nil {
		t.Errorf("got %q", got)
	}
}

// TestY1FilesBeyondTheBounds: a server cannot keep what it changed from being looked at by making very many files, nor the
// audit from its end by very deep directories.
func TestY1FilesBeyondTheBounds(t *testing.T) {
	root := t.TempDir()
	many := filepath.Join(root, "home/server/.config/autostart")
	if err := os.MkdirAll(many, 0o755); err != nil {
		t.Fatal(err)
	}
	w := lasting.Begin(root, "/home/server", false)
	deep := many
	for range 100 {
		deep = filepath.Join(deep, "d")
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.End()
	if got, err := w.Changed(); err != nil || len(got) > 0 {
		t.Errorf("deep: %q, %v", got, err)
	}
	w = lasting.Begin(root, "/home/server", false)
	first := filepath.Join(many, "0")
	if err := os.WriteFile(first, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 1<<15 - 1 {
		if err := os.Link(first, filepath.Join(many, strconv.Itoa(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	w.End()
	if got, err := w.Changed(); err == nil {
		t.Errorf("many: %d", len(got))
	}
}
