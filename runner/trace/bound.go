package trace

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"
)

const (
	// maxBound bounds the binds that are held back; those beyond it are reported at once.
	maxBound = 4096
	// maxUnfiltered is how long a socket may be bound before it is connected: the kernel keeps what
	// arrives until then from anybody, and resolvers connect with the next call.
	maxUnfiltered = 2 * time.Second
)

// bound is a UDP socket that was bound to a port and has not shown yet what it is for. Resolvers bind a socket to a
// random port and connect it: from then on it receives only from its peer, so it is no listener.
type bound struct {
	bind   Event
	number uint64 // of the bind's line
	// by is the descriptor that was bound: a connect through any other may be that of another socket of the same address.
	by   handle
	peer netip.AddrPort // invalid while it is not connected
	// met: an event has named the peer. A peer that is only received from is one that no event has named.
	met bool
}

// hold keeps the event of a bind until the socket shows what it is for, or else reports it.
func (d *decoder) hold(c *call, decor []byte, e endpoint) {
	event := Event{Op: OpBind, Socket: &e.Socket}
	if e.Protocol != "udp" || e.Local.Port() == 0 || c.failed() || len(d.bound) >= maxBound {
		d.emit(c, event)
		return
	}
	if old := d.bound[e.Local]; old != nil && !old.met {
		d.expose(old) // two sockets of one address cannot be told apart
	}
	d.bound[e.Local] = &bound{bind: d.completed(c, event), number: c.number, by: c.handleOf(decor)}
}

// boundTo returns the bind of a socket that is held back; nil for none. After a connect the socket's local address
// is that of the route.
func (d *decoder) boundTo(e endpoint) *bound {
	if e.Protocol != "udp" || len(d.bound) == 0 {
		return nil
	}
	for _, local := range []netip.Addr{e.Local.Addr(), netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
		if b := d.bound[netip.AddrPortFrom(local, e.Local.Port())]; b != nil {
			return b
		}
	}
	return nil
}

// expose reports a bind: the socket receives from anybody, or did.
func (d *decoder) expose(b *bound) {
	delete(d.bound, b.bind.Socket.Local)
	d.pass(b.bind)
}

// connected notes that a bound socket was connected, so that it receives only from e.Remote.
func (d *decoder) connected(c *call, decor []byte, e endpoint) {
	b := d.boundTo(e)
	switch {
	case b == nil || c.handleOf(decor) != b.by:
	case c.failed():
		b.met = b.met || c.reportsConnect(e)
	case c.time.Sub(b.bind.Time) > maxUnfiltered:
		d.expose(b)
	case b.peer != e.Remote:
		b.peer, b.met = e.Remote, false
	}
}

// disconnected notes that a bound socket receives from anybody again; it keeps its port (udp(7)).
func (d *decoder) disconnected(e endpoint) {
	if b := d.boundTo(e); b != nil {
		d.expose(b)
	}
}

// isPeer reports whether a is the peer of a connected socket, which the unspecified address makes one of the machine itself
// (ip(7)). An address that the tracer did not see is the peer's.
func (b *bound) isPeer(a netip.AddrPort) bool {
	return b.peer.IsValid() && (!a.IsValid() || a == b.peer || b.peer.Addr().IsUnspecified() && a.Port() == b.peer.Port())
}

// sentFrom notes that a bound socket has sent to e.Remote.
func (d *decoder) sentFrom(e endpoint) {
	if b := d.boundTo(e); b != nil && b.isPeer(e.Remote) {
		b.met = true
	}
}

// receivedAt notes that a bound socket has received from e.Remote.
func (d *decoder) receivedAt(e endpoint) {
	if b := d.boundTo(e); b != nil && (!b.met || !b.isPeer(e.Remote)) {
		d.expose(b)
	}
}

// exposeWaiting reports, at the end of the trace, the sockets that have waited for datagrams and never asked for any.
func (d *decoder) exposeWaiting() {
	for _, b := range slices.SortedFunc(maps.Values(d.bound), func(a, b *bound) int { return cmp.Compare(a.number, b.number) }) {
		if !b.met {
			d.expose(b)
		}
	}
}
