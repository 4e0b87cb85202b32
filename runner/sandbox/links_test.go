package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestS13LinksShowNothing: a link of a repository shows nothing of the user's that would not
// be shown without it, and one where programs are searched does.
func TestS13LinksShowNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, content := range map[string]string{
		".private/diary": "private", ".tools/bin/x": "#!/bin/sh\ncat config dir/diary; echo started", "repo/README": "", "bin/README": "",
	} {
		write(t, filepath.Join(home, name), content)
	}
	if err := os.Chmod(filepath.Join(home, ".tools/bin/x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"repo/config": ".private/diary", "repo/dir": ".private", "bin/x": ".tools/bin/x"} {
		if err := os.Symlink(filepath.Join(home, target), filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	t.Chdir(filepath.Join(home, "repo"))
	if o := run(t, "x", "config", "--file=dir/diary"); o.stdout != "started\n" {
		t.Errorf("the server saw %q, %q", o.stdout, o.stderr)
	}
}
