package decoy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// TestSurround: a home gets the files of a person, and existing files stay.
func TestSurround(t *testing.T) {
	set, err := decoy.New("/home/ada", false)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "Documents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := set.Plant(home, decoy.Private); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	stand := map[string]bool{}
	for _, f := range set.Around {
		name, _ := filepath.Rel(set.Home, f.Path)
		stand[name] = set.Stands(f, root)
	}
	for name, want := range map[string]bool{"Documents/letter.md": false, "Desktop/todo.txt": true, ".config/google-chrome/Local State": true} {
		if stand[name] != want {
			t.Errorf("%s stands: %t", name, stand[name])
		}
	}
	if info, err := os.Stat(filepath.Join(home, "Documents")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("a directory of somebody's own has changed: %v, %v", info.Mode(), err)
	}
}
