// Package places says what a path, or a port, means wherever it occurs: which files hold
// secrets, whether one path lies below another, and where names are looked up. It is pure
// and imports no other package of this module.
package places

import (
	"slices"
	"strings"
)

// PortDNS is where names are looked up (RFC 1035, 4.2).
const PortDNS = 53

// The first and the last of the ports that the kernel gives by default (ip_local_port_range, ip(7)).
const (
	FirstEphemeral = 32768
	LastEphemeral  = 60999
)

// Rest returns the part of a clean path behind a directory, "" for the directory itself;
// false where it does not lie there.
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

// Below reports whether a clean path lies below a directory, and is not that itself.
func Below(name, dir string) bool { return name != dir && Within(name, dir) }
