package ptrace

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestV1FileSwappedIn: a server that puts a file that it may not read in the place of one of /proc, after its name was
// looked up, does not get its content.
func TestV1FileSwappedIn(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("root's"), 0o600); err != nil {
		t.Fatal(err)
	}
	const status = "/proc/self/status"
	for _, tc := range []struct {
		path, name string
		flags      int
		want       string
	}{
		{path: secret, name: "/proc/uptime", flags: unix.O_PATH},
		{path: secret, name: "/proc/uptime", flags: unix.O_RDONLY},
		{path: status, name: "/proc/uptime", flags: unix.O_RDONLY},
		{path: "/proc/uptime", name: "/proc/uptime", flags: unix.O_RDONLY, want: "."},
	} {
		fd, err := unix.Open(tc.path, tc.flags|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(os.Getpid(), fd, tc.name); len(got) > 0 != (tc.want != "") || !bytes.Contains(got, []byte(tc.want)) {
			t.Errorf("%s in place of %s: told %q, want %q", tc.path, tc.name, got, tc.want)
		}
		_ = unix.Close(fd)
	}
}
