package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestS13Follows: the links of the machine and of its user are followed, and those that
// came with a repository or a package only within it.
func TestS13Follows(t *testing.T) {
	f := follower{dirs: []string{"/home/ann/here", "/data/ann/repo"}, searched: []string{"/home/ann/.local/bin", "/data/ann/repo/bin", "/srv/x/node_modules/.bin"}}
	for link, want := range map[[2]string]bool{
		{"/usr/bin/x", "/home/ann/.tools/x"}:                           true,
		{"/usr/lib/node_modules/x", "/home/ann/.src/x"}:                true,
		{"/bin", "/usr/bin"}:                                           true,
		{"/var/run", "/run"}:                                           true,
		{"/home/ann", "/data/ann"}:                                     true,
		{"/home/ann/.local/bin/x", "/home/ann/.tools/x"}:               true,
		{"/home/ann/here", "/data/ann/repo"}:                           true,
		{"/data/ann/repo/a", "/data/ann/repo/b"}:                       true,
		{"/data/ann/repo/a", "/home/ann/.private"}:                     false,
		{"/data/ann/repo/bin/x", "/home/ann/.private"}:                 false,
		{"/home/ann/other/a", "/home/ann/.private"}:                    false,
		{"/srv/x/node_modules/.bin/x", "/srv/x/node_modules/x/cli.js"}: true,
		{"/srv/x/node_modules/.bin/x", "/home/ann/.private"}:           false,
		{"/tmp/x", "/home/ann/.private"}:                               false,
	} {
		if got := f.follows(link[0], link[1]); got != want {
			t.Errorf("from %s to %s: followed %t, want %t", link[0], link[1], got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	top := t.TempDir()
	for link, target := range map[string]string{"a": "b", "b": filepath.Join(top, "c"), "loop": "loop", "c/d": "../e/f"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.Dir(link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(paths ...string) []string {
		for i := range paths {
			paths[i] = filepath.Join(top, paths[i])
		}
		return paths
	}
	all := func(string, string) bool { return true }
	if got, want := links(filepath.Join(top, "a/d/x"), all), at("a/d/x", "b/d/x", "c/d/x", "e/f/x"); !slices.Equal(got, want) {
		t.Errorf("links are %q, want %q", got, want)
	}
	none := func(string, string) bool { return false }
	if got, want := links(filepath.Join(top, "a"), none), at("a"); !slices.Equal(got, want) {
		t.Errorf("links are %q, want %q", got, want)
	}
	if got := links(filepath.Join(top, "loop"), all); len(got) > 41 {
		t.Errorf("a loop was followed %d times", len(got))
	}
}

// TestS13HomeOfSudo: who called sudo has a home wherever the accounts say.
func TestS13HomeOfSudo(t *testing.T) {
	if got := homesOf(nil, "0"); !slices.Equal(got, []string{"/root"}) {
		t.Errorf("the home of uid 0 is %q", got)
	}
	if got := homesOf(nil, ""); got != nil {
		t.Errorf("without sudo there are homes %q", got)
	}
	v := newView("/root", nil, []string{"/data/ann/work"}, nil)
	v.protect("/data/ann")
	if v.treat("/data/ann/.secret") != hide || v.treat("/data/ann/work") != whole {
		t.Error("a home outside /home is shown")
	}
}

// TestInstallation: the tree of packages that a program is in is the server's own, but for the system's.
func TestInstallation(t *testing.T) {
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "venv/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "venv/pyvenv.cfg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		top + "/venv/bin/server":                  top + "/venv",
		top + "/bin/server":                       "",
		"/srv/x/node_modules/server/dist/main.js": "/srv/x/node_modules",
		"/usr/lib/node_modules/server/main.js":    "",
		"/usr/bin/node":                           "",
	} {
		if got := installation(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if got := apartFrom("/srv/work", []string{"/srv/work", top + "/venv", "/usr/share"}); !slices.Equal(got, []string{top + "/venv", "/srv/work"}) {
		t.Errorf("apart: %q", got)
	}
}
