package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAD2CodeOfTheImagesHome: what interpreters, shells and package managers load from the image's home by themselves is in
// the home of the audit, too; its data are not.
func TestAD2CodeOfTheImagesHome(t *testing.T) {
	image := tree(t, map[string]string{
		".local/lib/python3.11/site-packages/usercustomize.py": "evil", ".node_modules/x.js": "evil", ".bashrc": "evil", ".gem/x.rb": "evil",
		".config/git/config": "evil", ".npmrc": "node-options=--require /x.js\n", ".kube/config": "image",
		".cache/x": "data", ".local/share/app/x": "data", "notes.txt": "data", "Dockerfile": "data", "node_modules/x.js": "data",
	})
	home := tree(t, map[string]string{".npmrc": "token=decoy\n", ".kube/config": "decoy", ".config/google-chrome/First Run": ""})
	for range 2 { // a later launch finds the links of the first
		if err := mergeHome(image, home); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		".local/lib/python3.11/site-packages/usercustomize.py": "evil", ".node_modules/x.js": "evil", ".bashrc": "evil", ".gem/x.rb": "evil",
		".config/git/config": "evil", ".npmrc": "token=decoy\n\nnode-options=--require /x.js\n", ".kube/config": "decoy",
		".cache/x": "", ".local/share/app/x": "", "notes.txt": "", "Dockerfile": "", "node_modules/x.js": "",
	} {
		if got, _ := os.ReadFile(filepath.Join(home, name)); string(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestHomesThatCannotBeMerged(t *testing.T) {
	home := tree(t, nil)
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, linked); err != nil {
		t.Fatal(err)
	}
	many := map[string]string{}
	for i := range maxHomeEntries + 1 {
		many[fmt.Sprintf(".config/git/%d", i)] = ""
	}
	for name, c := range map[string]struct{ image, want string }{
		"the same":                   {home, "which the audit replaces"},
		"below it":                   {home + "/app", "which the audit replaces"},
		"the same by another name":   {linked, "which the audit replaces"},
		"with too much to look at":   {tree(t, many), "more than"},
		"with too large a file":      {tree(t, map[string]string{".npmrc": strings.Repeat("x", maxJoined+1)}), ".npmrc has to be"},
		"none, or none to be read":   {home + "-none", ""},
		"of a user with no home (/)": {"/", ""},
	} {
		into := home
		if strings.Contains(c.want, ".npmrc") {
			into = tree(t, map[string]string{".npmrc": ""})
		}
		if err := mergeHome(c.image, into); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
