package shim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

var planted = []inputs.File{{Path: "files/note.txt", Content: []byte("milk\n")}, {Path: "files/todo.md", Content: []byte("bread\n")}}

func TestPlant(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := (planter{}).ordinary(root, planted); err != nil {
		t.Fatal(err)
	}
	note, todo := filepath.Join(root, "tmp/files/note.txt"), filepath.Join(root, "tmp/files/todo.md")
	if err := os.WriteFile(note, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(todo); err != nil {
		t.Fatal(err)
	}
	if err := (planter{}).ordinary(root, planted); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{note: "changed", todo: "bread\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestPlantFollowsNoLink: neither out of the root nor to another file.
func TestPlantFollowsNoLink(t *testing.T) {
	for name, link := range map[string]string{"the directory": "tmp/files", "all": "tmp", "a file": "tmp/files/note.txt"} {
		root, outside := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o777); err != nil {
			t.Fatal(err)
		}
		to := outside
		if name == "a file" {
			to = filepath.Join(outside, "victim")
		}
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
		err := (planter{}).ordinary(root, planted)
		if (err == nil) != (name == "a file") { // a file there is no error
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("%s: outside there is %v", name, left)
		}
	}
}

func TestPlantWithoutTmp(t *testing.T) {
	if (planter{}).ordinary(t.TempDir(), planted) == nil {
		t.Error("nobody says so")
	}
	if err := (planter{}).ordinary(t.TempDir(), nil); err != nil {
		t.Error(err)
	}
}

// TestPlantLures: a directory gets a link that leads out, and two directories beside it; a missing one gets
// nothing.
func TestPlantLures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	planter{}.lures(dir, nil, nil)
	if _, err := os.Stat(inputs.Sibling(dir)); err == nil {
		t.Error("a sibling of what is not there")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	planter{}.lures(dir, nil, []string{"note.html", "home.md"})
	for link, want := range map[string]string{
		inputs.LinkName: inputs.OutsideDir, inputs.FileLink(3, ".txt"): inputs.OutsideFile(3, ".txt"), inputs.FileLink(3, ".html"): inputs.OutsideFile(3, ".html"),
	} {
		if to, err := os.Readlink(filepath.Join(dir, link)); err != nil || to != want {
			t.Errorf("%s leads to %q: %v", link, to, err)
		}
	}
	for _, name := range []string{"note.md", "note.html", "home.md"} {
		for _, beside := range []string{inputs.Sibling(dir), inputs.Neighbour(dir)} {
			if _, err := os.Stat(filepath.Join(beside, "3", name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPlantProject: a directory becomes a project, unless it is part of one: a package.json
// below another would change how Node.js loads the server.
func TestPlantProject(t *testing.T) {
	dir := t.TempDir()
	planter{}.project(dir)
	for _, name := range []string{".git/HEAD", "package.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	below := filepath.Join(dir, "dist")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	planter{}.project(below)
	if entries, err := os.ReadDir(below); err != nil || len(entries) > 0 {
		t.Errorf("a part of a project got %v: %v", entries, err)
	}
}

// TestAge: only files with the expected content get another one, and no link is followed.
func TestAge(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"same", "other", "behind"} {
		if err := os.WriteFile(path(name), []byte(map[string]string{"same": "3", "other": "4", "behind": "3"}[name]), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("behind", path("link")); err != nil {
		t.Fatal(err)
	}
	var files []counters.File
	for _, name := range []string{"same", "other", "link", "missing"} {
		files = append(files, counters.File{Path: path(name), Was: []byte("3"), Is: []byte("5003")})
	}
	planter{}.age(files)
	for name, want := range map[string]string{"same": "5003", "other": "4", "behind": "3"} {
		if got, err := os.ReadFile(path(name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Lstat(path("missing")); err == nil {
		t.Error("a file that the server had removed is there again")
	}
}
