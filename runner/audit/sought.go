package audit

import (
	"net/netip"
	"slices"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxSought bounds the number of kept addresses.
const maxSought = 16

// sought holds the loopback addresses that the server tried to reach and where it may have found nothing: services of
// the user's machine.
type sought struct {
	mu sync.Mutex
	at []netip.AddrPort
}

// event adds an event of the trace. It does not show how a connection ended for which the server did not wait.
func (m *sought) event(e trace.Event) {
	if e.Op != trace.OpConnect || e.Socket == nil || e.Socket.Protocol != "tcp" || e.Errno != "ECONNREFUSED" && e.Errno != "EINPROGRESS" {
		return
	}
	to := e.Socket.Remote
	m.mu.Lock()
	defer m.mu.Unlock()
	if to.Addr().IsLoopback() && to.Port() != 0 && to.Port() != places.PortDNS && len(m.at) < maxSought && !slices.Contains(m.at, to) {
		m.at = append(m.at, to)
	}
}

// seen returns the addresses so far, without ports on which the server itself listens.
func (m *sought) seen(l *listening) []netip.AddrPort {
	own, _ := l.seen()
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.at), func(to netip.AddrPort) bool {
		return slices.ContainsFunc(own, func(at netip.AddrPort) bool { return at.Port() == to.Port() })
	})
}
