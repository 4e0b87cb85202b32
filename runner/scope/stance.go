package scope

import "github.com/mcpaudit/mcpaudit/api/report"

// Stance says what a declaration says about the use of the network.
type Stance int

// The stances.
const (
	// Silent: neither denied nor mentioned.
	Silent Stance = iota
	// Declared: mentioned, and not denied.
	Declared
	// Denied: promised not to be used, and not mentioned elsewhere.
	Denied
	// Unclear: both.
	Unclear
)

// Speaks reports whether anything was declared at all: a server that exited or blocked before the handshake has
// declared nothing, whatever its command is called.
func (s Scope) Speaks() bool { return s.speaks }

// Network returns the stance of a capability, or of the server as a whole, on the
// network, with the promise when there is one.
//
// A capability's own words take precedence over the server's. The server as a whole
// denies when its instructions do, or when every single capability does, and
// nothing in the manifest mentions the network.
func (s Scope) Network(of report.Capability) (Stance, Clause) {
	if of.Kind != report.CapabilityServer {
		if stance, clause := s.items[of].network(); stance != Silent {
			return stance, clause
		}
		return s.server.network()
	}
	if len(s.whole.Network) > 0 {
		if stance, clause := s.server.network(); stance == Unclear {
			return stance, clause
		}
		return Declared, Clause{}
	}
	if stance, clause := s.server.network(); stance == Denied {
		return stance, clause
	}
	for _, each := range s.order {
		if len(s.items[each].NoNetwork) == 0 {
			return Silent, Clause{}
		}
	}
	if len(s.order) == 0 {
		return Silent, Clause{}
	}
	return Denied, s.items[s.order[0]].NoNetwork[0]
}

func (d Declaration) network() (Stance, Clause) {
	switch denies, speaks := len(d.NoNetwork) > 0, len(d.Network) > 0; {
	case denies && speaks:
		return Unclear, d.NoNetwork[0]
	case denies:
		return Denied, d.NoNetwork[0]
	case speaks:
		return Declared, Clause{}
	}
	return Silent, Clause{}
}
