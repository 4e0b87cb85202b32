package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// sessionSockets are those of a session of a desktop. Nobody listens on them: a server that does without them goes on at
// once, and one that looks for them finds them.
var sessionSockets = []string{"bus", "keyring/ssh", "keyring/control", "pipewire-0", "wayland-0"}

// inhabit adds what a machine has that somebody is logged in to at home: the sockets of the session, and a search
// domain. Neither is essential.
func (r *root) inhabit() error {
	if r.readOnly != nil {
		return nil
	}
	for _, name := range sessionSockets {
		at := path.Join(places.RuntimeDir, name)
		if err := r.ensure(path.Dir(at), 0o755); err != nil {
			return err
		}
		if err := unix.Mknod(r.at(at), unix.S_IFSOCK|0o666, 0); err != nil && !isThere(r.at(at)) {
			return fmt.Errorf("make %s: %w", at, err)
		}
	}
	if err := r.ensure("/run/systemd/system", 0o755); err != nil {
		return err
	}
	known, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return nil //nolint:nilerr // nor has the machine one
	}
	return r.place("/etc/resolv.conf", searching(known))
}

// searching returns the text of a resolv.conf(5) with a search domain, if it names none.
func searching(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) > 1 && (string(fields[0]) == "search" || string(fields[0]) == "domain") {
			return text
		}
	}
	return fmt.Appendf(nil, "%s\noptions edns0 trust-ad\nsearch %s\n", bytes.TrimRight(text, "\n"), places.HomeDomain)
}
