package inputs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepository: git takes it for a repository with two branches, and can do there what
// tools do.
func TestRepository(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	dir := t.TempDir()
	sent, err := json.Marshal(Files()) // as to the server's side
	if err != nil {
		t.Fatal(err)
	}
	var planted []File
	if err := json.Unmarshal(sent, &planted); err != nil {
		t.Fatal(err)
	}
	for _, f := range Project() {
		planted = append(planted, File{ProjectDir + "/" + f.Path, f.Content})
	}
	for _, f := range planted {
		name := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range [][2]string{
		{"-C ../" + ProjectDir + " fsck --strict", ""},
		{"-C ../" + ProjectDir + " status --porcelain --branch", "## main...origin/main\n"},
		{"-C ../" + ProjectDir + " log --format=%s", "Serve the shop\nBegin\n"},
		{"fsck --strict", ""},
		{"status --porcelain", " M list.txt\nA  new.txt\n"},
		{"log --format=%s", "Add a list\nAdd notes\n"},
		{"log --format=%s notes", "Add tea\nAdd notes\n"},
		{"branch --show-current", "main\n"},
		{"tag --points-at HEAD~", "v1.0.0\n"},
		{"show HEAD:README.md", "# Notes\n\nmilk and bread\n"},
		{"commit --quiet -m more", ""},
		{"stash --quiet", ""},
		{"fetch --quiet origin", ""},
		{"pull --quiet --ff-only", ""},
		{"push --quiet origin main", ""},
		{"cherry-pick --quit", ""},
		{"merge --quiet -m merged notes", ""},
	} {
		command, want := step[0], step[1]
		cmd := exec.Command(git, append([]string{"-C", filepath.Join(dir, RepositoryDir)}, strings.Fields(command)...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if said, err := cmd.Output(); err != nil || string(said) != want {
			t.Errorf("git %s: %q, %v: %s", command, said, err, stderr.String())
		}
	}
}
