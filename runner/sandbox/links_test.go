package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/sandbox"
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

// TestU4OthersNameNothing: words of the command that are somebody else's, as those of a bundle, show nothing of the user's.
func TestU4OthersNameNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	diary := filepath.Join(home, ".private/diary")
	write(t, diary, "private")
	write(t, filepath.Join(home, "repo/README"), "")
	t.Chdir(filepath.Join(home, "repo"))
	for _, c := range []struct {
		named []string
		want  string
	}{{nil, "private"}, {[]string{"mcpb:x"}, ""}, {[]string{"mcpb:x", diary}, "private"}} {
		launcher, err := sandbox.New([]string{"cat", diary}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		launcher.Named = c.named
		if o := runWith(t, launcher); o.stdout != c.want {
			t.Errorf("%q: the server saw %q, %q", c.named, o.stdout, o.stderr)
		}
	}
}

// TestU5Trace: a trace takes the place of a link, and not of what that leads to.
func TestU5Trace(t *testing.T) {
	top := t.TempDir()
	theirs, dir := filepath.Join(top, "theirs"), filepath.Join(top, "out")
	write(t, theirs, "theirs")
	write(t, filepath.Join(dir, "README"), "")
	if err := os.Symlink(theirs, filepath.Join(dir, "trace.txt")); err != nil {
		t.Fatal(err)
	}
	launcher, err := sandbox.New([]string{"true"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	launcher.Keep = true
	runWith(t, launcher)
	if got, err := os.ReadFile(theirs); err != nil || string(got) != "theirs" {
		t.Errorf("it has %.80q, %v", got, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "trace.txt")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}
