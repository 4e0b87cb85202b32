// Package places classifies paths and ports: which files hold secrets, which ones other programs obey,
// and whether one path lies below another. It is pure.
package places

import (
	"slices"
	"strings"
)

// PortDNS is that of name servers (RFC 1035, 4.2).
const PortDNS = 53

// The range from which the kernel chooses ports by default (ip_local_port_range, ip(7)).
const (
	FirstEphemeral = 32768
	LastEphemeral  = 60999
)

// Rest returns a clean path relative to a directory, "" for the directory itself;
// false for a path outside it.
func Rest(name, dir string) (rest string, ok bool) {
	if name == dir {
		return "", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// Within reports whether a clean path is a directory or lies below it.
func Within(name, dir string) bool {
	_, ok := Rest(name, dir)
	return ok
}

// WithinAny is Within for one of some directories.
func WithinAny(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Within(name, dir) })
}

// Below reports whether a clean path lies below a directory.
func Below(name, dir string) bool { return name != dir && Within(name, dir) }
