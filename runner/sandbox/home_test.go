package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestS13SomebodyElsesHome: root in a directory of a user gives the server that directory,
// and nothing of the user's that lies beside it.
func TestS13SomebodyElsesHome(t *testing.T) {
	v := newView("/root", nil, []string{"/home/alice/work/notes", "/home/bob/.nvm/versions/node"}, nil)
	v.apart = []string{"/home/alice/work/notes"}
	for path, want := range map[string]struct {
		how    treatment
		theirs bool
	}{
		"/home/alice":                  {descend, false},
		"/home/alice/.ssh":             {hide, false},
		"/home/alice/.netrc":           {hide, false},
		"/home/alice/.config":          {descend, false},
		"/home/alice/.config/gh":       {hide, false},
		"/home/alice/.mozilla":         {hide, false},
		"/home/alice/work":             {descend, false},
		"/home/alice/work/other":       {whole, false},
		"/home/alice/work/notes":       {whole, true},
		"/home/bob":                    {descend, false},
		"/home/bob/.ssh":               {hide, false},
		"/home/bob/.nvm":               {whole, false},
		"/home/bob/.nvm/versions/node": {whole, true},
		"/home/carol":                  {hide, false},
	} {
		if how, theirs := v.treat(path), v.theirs(path); how != want.how || theirs != want.theirs {
			t.Errorf("%s: treated as %d, theirs %t; want %d, %t", path, how, theirs, want.how, want.theirs)
		}
	}
}

// TestS13PrivateFilesOfTheCommand: what only root may read of the command is the server's,
// wherever it is.
func TestS13PrivateFilesOfTheCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	public, private := filepath.Join(dir, "public.js"), filepath.Join(dir, "private.js")
	closed := filepath.Join(dir, "closed")
	for path, mode := range map[string]os.FileMode{public: 0o644, private: 0o600} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	within := filepath.Join(closed, "server.js")
	if err := os.WriteFile(within, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := apartFrom("/", []string{private, within, "/", filepath.Join(dir, "absent")})
	if want := []string{private, within}; !slices.Equal(got, want) {
		t.Errorf("apart are %q, want %q", got, want)
	}
	if got := apartFrom(dir, nil); !slices.Equal(got, []string{dir}) {
		t.Errorf("apart are %q, want the working directory", got)
	}
	if isPublic(private) || isPublic(within) {
		t.Error("a file is public that only its owner may read")
	}
}

// TestS13LinksGiveNothing: a link in a repository makes no file of root's the server's,
// while the working directory is, also by a link.
func TestS13LinksGiveNothing(t *testing.T) {
	top := t.TempDir()
	dir, outside, beside := filepath.Join(top, "repository"), filepath.Join(top, "outside"), filepath.Join(top, "beside")
	for _, d := range []string{dir, outside, beside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	secret, named, within := filepath.Join(outside, "secret"), filepath.Join(beside, "named"), filepath.Join(dir, "within")
	for _, file := range []string{secret, named, within} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		filepath.Join(dir, "config"): secret, filepath.Join(dir, "inside"): within, filepath.Join(dir, "tree"): outside, filepath.Join(top, "here"): dir,
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{dir, filepath.Join(top, "here")} {
		kept := keep(at, "", []string{"config", "inside", "--tree=tree", named}, nil)
		v := newView("/root", nil, kept, nil)
		for path, want := range map[string]bool{secret: false, outside: false, within: true, named: true, dir: true} {
			if got := v.theirs(path); got != want {
				t.Errorf("in %s, %s is the server's: %t, want %t", at, path, got, want)
			}
		}
	}
}
