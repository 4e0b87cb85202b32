package trace

import (
	"bytes"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// families are the address families that servers have a use for (socket(2)), as
// Socket.Family has them. The last stands for all others.
var families = []string{"unix", "inet", "inet6", "netlink", "packet", "vsock", "alg", otherFamily}

// otherFamily is a family of sockets that is none of those with a name.
const otherFamily = "other"

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
	switch s.Op {
	case syscalls.Clone:
		m.processes = m.processes || !bytes.Contains(rest, []byte("CLONE_THREAD"))
	case syscalls.Socket, syscalls.Pair:
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

// Calls returns those that were made, and those that were not, sorted. A traced call
// that is in neither may or may not have been made.
func (m Made) Calls() (made, unmade []string) {
	for i, name := range counted {
		if m.calls[i/64]&(1<<(i%64)) != 0 {
			made = append(made, name)
		} else {
			unmade = append(unmade, name)
		}
	}
	slices.Sort(made)
	slices.Sort(unmade)
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
