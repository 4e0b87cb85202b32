package ptrace

import (
	"bytes"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// loggedIn rewrites /proc/PID/loginuid and sessionid, which have no value in a container, as if the client ran in the
// session of the first user.
func loggedIn(_ *clock, _ *task, said []byte) []byte {
	if string(bytes.TrimSpace(said)) != "4294967295" {
		return nil
	}
	return []byte("1000")
}

// inSession rewrites /proc/PID/cgroup: a program of a desktop is in a scope of its own. A runtime that looks for its
// limits there finds none, and uses those of the machine.
func inSession(_ *clock, _ *task, said []byte) []byte {
	if bytes.Count(said, []byte("\n")) != 1 || !bytes.HasPrefix(said, []byte("0::/")) {
		return nil // several hierarchies
	}
	return []byte("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-terminal-4127.scope\n")
}

// booting rewrites /proc/cmdline.
func booting(*clock, *task, []byte) []byte {
	return []byte("BOOT_IMAGE=/boot/vmlinuz root=UUID=6f0c1f7e-2a52-4c0b-9d53-8f6b8a1e7c42 ro quiet splash vt.handoff=7\n")
}

// counters matches an interface in /proc/PID/net/dev that has hardly received or sent anything.
var counters = lazyregexp.New(`(?m)^( *w\w*): +\d{1,6} +\d+((?: +\d+){6}) +\d{1,6} +\d+((?: +\d+){6})$`)

// received rewrites /proc/PID/net/dev: a wireless card in use has received something.
func received(_ *clock, _ *task, said []byte) []byte {
	return counters.ReplaceAll(said, []byte("${1}: 4829117203 3920114$2 611803394 1202917$3"))
}
