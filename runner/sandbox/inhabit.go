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

// inhabit names the machine, and makes it look as if somebody was logged in to it, unless an earlier run did.
func (r *root) inhabit(host string, again bool) error {
	if err := r.nameHost(host, again); err != nil {
		return fmt.Errorf("name the machine: %w", err)
	}
	if again || r.readOnly != nil {
		return nil //nolint:nilerr // neither is essential
	}
	if err := r.login(); err != nil {
		return fmt.Errorf("make the machine look in use: %w", err)
	}
	return nil
}

// login adds what a machine in a home has that somebody is logged in to: the sockets of the session, and a search domain.
func (r *root) login() error {
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
