package trace

import (
	"bytes"
	"slices"
)

// unreported are the traced calls that do not make a line each time: our own tracer
// leaves out those that move bytes which nothing is to be learned from, and its
// filter the mappings that no file can be written through. That one of them was never
// made cannot be said.
var unreported = []string{
	"mmap", "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
	"sendfile", "sendfile64", "splice", "tee", "vmsplice", "copy_file_range",
	"sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg",
}

// reported are the traced calls of which each makes a line; its places are the bits
// of Made.
var reported = func() []string {
	calls := slices.DeleteFunc(slices.Clone(traced), func(name string) bool { return slices.Contains(unreported, name) })
	slices.Sort(calls)
	return slices.Compact(calls)
}()

// families are the address families that servers have a use for (socket(2)), as
// Socket.Family has them. The last stands for all others.
var families = []string{"unix", "inet", "inet6", "netlink", "packet", "vsock", "alg", OtherFamily}

// OtherFamily is a family of sockets that is none of those with a name.
const OtherFamily = "other"

// Made says which calls the server's processes made, whatever came of them. The zero
// value says that there was none. It is a value, so that a copy stays as it is.
type Made struct {
	calls    [4]uint64
	families uint16
	// processes: one of them was a fork, or a clone of something else than a thread.
	processes bool
}

// note takes in one call; rest is the text behind "name(".
func (m *Made) note(s *spec, rest []byte) {
	if s.bit < 0 {
		return
	}
	m.calls[s.bit/64] |= 1 << (s.bit % 64)
	switch s.name {
	case "fork", "vfork":
		m.processes = true
	case "clone", "clone3":
		m.processes = m.processes || !bytes.Contains(rest, []byte("CLONE_THREAD"))
	case "socket", "socketpair":
		m.family(rest)
	}
}

func (m *Made) family(rest []byte) {
	domain, _, _ := bytes.Cut(rest, []byte(","))
	i := slices.Index(families, familyName(bytes.TrimSpace(domain)))
	if i < 0 {
		i = len(families) - 1
	}
	m.families |= 1 << i
}

// Join adds what another run made.
func (m *Made) Join(other Made) {
	for i, word := range other.calls {
		m.calls[i] |= word
	}
	m.families |= other.families
	m.processes = m.processes || other.processes
}

// Calls returns those that were made, and those that were not, sorted. A call that
// Calls of the package names and that is in neither may or may not have been made.
func (m Made) Calls() (made, unmade []string) {
	for i, name := range reported {
		if m.calls[i/64]&(1<<(i%64)) != 0 {
			made = append(made, name)
		} else {
			unmade = append(unmade, name)
		}
	}
	return made, unmade
}

// Families returns the families of the sockets that were made, sorted.
func (m Made) Families() []string {
	var all []string
	for i, name := range families {
		if m.families&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Processes reports whether a process was started, and not only a thread.
func (m Made) Processes() bool { return m.processes }
