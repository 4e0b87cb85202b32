package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDecoysAreWatched: a link that the server came with leads to a name that no
// trace can tell; the file itself tells that it was opened.
func TestDecoysAreWatched(t *testing.T) {
	home, server := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	link := filepath.Join(server, "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	o := shell(t, `mv `+link+`/.aws `+link+`/x && cat `+home+`/x/credentials >/dev/null && cat `+home+`/.env >/dev/null`)
	var want []string
	for _, name := range []string{".aws/credentials", ".env"} {
		want = append(want, filepath.Join(home, name))
	}
	if got := o.process.Opened(); !slices.Equal(got, want) {
		t.Errorf("opened %q, want %q", got, want)
	}
	if sawRead(o.events, want[0]) || !sawRead(o.events, want[1]) {
		t.Error("the trace has another name for one, and that of the other")
	}
}

// TestY1ChangesAreSeen: a file that is obeyed is seen changed, whatever the trace calls it.
func TestY1ChangesAreSeen(t *testing.T) {
	home, server := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	link := filepath.Join(server, "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	o := shell(t, `echo >`+home+`/note && mv `+home+`/note `+link+`/.ssh/rc && cat `+home+`/.bash_history >`+home+`/other`)
	changed, err := o.process.(interface{ Changed() ([]string, error) }).Changed()
	if want := []string{filepath.Join(home, ".ssh/rc")}; err != nil || !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q (%v)", changed, want, err)
	}
}
