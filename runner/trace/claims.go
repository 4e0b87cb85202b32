package trace

import (
	"bytes"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// claims has the connections that carry the conversation with an HTTP server, by the
// address of the runner's end, which is the remote address of the socket that the
// server accepted. No other connection can have it meanwhile.
type claims struct {
	// any: there are claims.
	any atomic.Bool

	mu sync.Mutex
	// ends maps the runner's ends to ports of the server.
	ends map[netip.AddrPort]uint16
}

func (c *claims) add(end netip.AddrPort, port uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[netip.AddrPort]uint16{}
	}
	c.ends[unmap(end)] = port
	c.any.Store(true)
}

// port returns the port of the server that a claimed end is connected to.
func (c *claims) port(end netip.AddrPort) (uint16, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	port, ok := c.ends[end]
	return port, ok
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Claim makes a connection to a port of the server part of the conversation: what the
// server reads from it and writes to it counts in Event.At, and makes no event. end is
// the runner's end (net.Conn.LocalAddr) as the server sees it. Claim it before the first
// byte is sent; it stays claimed.
//
// For a claim the tracer must see the connection's addresses: it does in its own network
// namespace, and in another one only if the server asks for them when it accepts the
// connection (Python does, Node does not).
func (s *Session) Claim(end netip.AddrPort, port uint16) { s.claims.add(end, port) }

// carries reports whether a socket carries the conversation.
func (d *decoder) carries(decor []byte) bool {
	if d.claims == nil || !d.claims.any.Load() || !bytes.HasPrefix(decor, []byte("TCP")) {
		return false
	}
	e := d.lookup(decor)
	port, claimed := d.claims.port(e.Remote)
	return claimed && !e.stated.IsValid() && (e.Local.Port() == port || !e.Local.IsValid() && e.accepted)
}

// countReceived counts the bytes received on a connection of the conversation, without
// those that were only peeked at.
func (d *decoder) countReceived(c *call) {
	if !peeks(c) {
		d.at.In += moved(c)
	}
}

// peeks reports whether a call leaves the bytes in the queue (recv(2)).
func peeks(c *call) bool { return hasFlag(c.kind(syscalls.MessageFlags), "MSG_PEEK") }

// countSent counts the bytes sent on a connection of the conversation.
func (d *decoder) countSent(c *call) {
	d.at.Out += moved(c)
}

// moved returns how many bytes a call has moved.
func moved(c *call) int64 {
	switch {
	case c.failed():
		return 0
	case !c.takes(syscalls.Messages, syscalls.MessagesOut):
		return c.result.value
	}
	var sum int64
	for _, m := range messages(c) {
		sum += m.size
	}
	return sum
}
