package trace

import (
	"bytes"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// families lists the address families that servers use (socket(2)), named as in
// Socket.Family. The last stands for all others.
var families = []string{"unix", "inet", "inet6", "netlink", "packet", "vsock", "alg", otherFamily}

// otherFamily stands for the families without a name.
const otherFamily = "other"

// Made has the calls that the server's processes made, with success or without. The zero
// value has none. It is a value, so a copy does not change.
type Made struct {
	calls    [4]uint64
	families uint16
	// processes: one call was a fork, or a clone that made no thread.
	processes bool
}

// note adds one call; rest is the text after "name(".
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

// Join adds the calls of another run.
func (m *Made) Join(other Made) {
	for i, word := range other.calls {
		m.calls[i] |= word
	}
	m.families |= other.families
	m.processes = m.processes || other.processes
}

// Calls returns the calls that were made, and those that were not, sorted. A traced call
// in neither list may or may not have been made.
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
