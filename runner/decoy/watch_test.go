package decoy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// TestWatch: an opening is reported by whatever name, and however often another file is opened.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	set := newSet(t, "/home/server", false)
	home := filepath.Join(root, set.Home)
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := set.Plant(home, decoy.Private); err != nil {
		t.Fatal(err)
	}
	w, err := set.Watch(root)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) {
		if _, err := os.ReadFile(filepath.Join(home, name)); err != nil {
			t.Error(err)
		}
	}
	for range 20000 {
		read(".netrc")
		read(".npmrc")
	}
	if err := os.Rename(filepath.Join(home, ".aws"), filepath.Join(home, "x")); err != nil {
		t.Error(err)
	}
	read("x/credentials")
	if err := os.Link(filepath.Join(home, ".env"), filepath.Join(home, "y")); err != nil {
		t.Error(err)
	}
	read("y")
	var want []string
	for _, name := range []string{".netrc", ".npmrc", ".aws/credentials", ".env"} {
		want = append(want, filepath.Join(set.Home, name))
	}
	if got := w.End(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
