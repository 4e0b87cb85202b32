package trace

import (
	"bytes"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// claims are the connections that carry the conversation of a server that is
// talked to over HTTP: by the address of the runner's end, which is the remote one
// of the socket that the server accepted. Nobody else can have it meanwhile.
type claims struct {
	// any: there are some.
	any atomic.Bool

	mu sync.Mutex
	// ends lead to the port of the server.
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

// port returns the port of the server which a claimed end is connected to.
func (c *claims) port(end netip.AddrPort) (uint16, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	port, ok := c.ends[end]
	return port, ok
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Claim makes a connection to a port of the server's part of the conversation: what
// the server reads of it and writes to it counts in Event.At, and is no effect. end
// is the runner's end of it (net.Conn.LocalAddr) as the server sees it. It has to be
// claimed before the first byte is sent, and stays so.
//
// A claim needs the tracer to see the connection's addresses, which it does in its
// own network namespace; in another it does where the server asks for them when it
// accepts the connection (Python does, Node does not).
func (s *Session) Claim(end netip.AddrPort, port uint16) { s.claims.add(end, port) }

// carries reports whether a socket carries the conversation.
func (d *decoder) carries(decor []byte) bool {
	if d.claims == nil || !d.claims.any.Load() || !bytes.HasPrefix(decor, []byte("TCP")) {
		return false
	}
	e := d.lookup(decor)
	port, claimed := d.claims.port(e.Remote)
	return claimed && (e.Local.Port() == port || !e.Local.IsValid() && e.accepted)
}

// countReceived counts what came by a connection of the conversation. What is only looked
// at comes once more.
func (d *decoder) countReceived(c *call) {
	if !peeks(c) {
		d.at.In += moved(c)
	}
}

// peeks reports whether what a call has received comes once more (recv(2), MSG_PEEK).
func peeks(c *call) bool {
	const peek = "MSG_PEEK"
	return hasFlag(c.arg(2), peek) || hasFlag(c.arg(3), peek)
}

// countSent counts what went out by a connection of the conversation.
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
