package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestU5Replace: what is written takes the place of a link, and not of what that leads to.
func TestU5Replace(t *testing.T) {
	dir := t.TempDir()
	theirs, ours := filepath.Join(dir, "theirs"), filepath.Join(dir, "ours")
	if err := os.WriteFile(theirs, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ours", "ours.new"} {
		if err := os.Symlink(theirs, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(ours, []byte("ours")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{theirs: "theirs", ours: "ours"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if info, err := os.Lstat(ours); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Replace(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("written where there is no directory")
	}
	if err := Replace(dir, nil); err == nil {
		t.Error("written in place of a directory")
	}
	if err := Replace("/proc/self/fd/1", nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("in place of stdout: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("left are %v, %v", left, err)
	}
}
