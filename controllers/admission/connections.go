package admission

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections bounds the open connections. A new connection is never refused: another is closed
// instead, so clients that hold connections cannot lock out the API server.
type connections struct {
	limit int

	mu   sync.Mutex
	open map[net.Conn]*connection
}

type connection struct {
	remote string
	// since is when the connection was accepted, or its last request was answered.
	since time.Time
	// deciding is true from the last byte of a request until its answer is sent.
	deciding bool
}

type connectionKey struct{}

// remember implements http.Server.ConnContext.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// track implements http.Server.ConnState.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(c.open) >= c.limit {
			c.evict()
		}
		c.open[conn] = &connection{remote: host(conn.RemoteAddr().String()), since: time.Now()}
	case http.StateIdle:
		if known := c.open[conn]; known != nil {
			known.since, known.deciding = time.Now(), false
		}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// received marks a connection whose request has been received completely.
func (c *connections) received(ctx context.Context) {
	conn, _ := ctx.Value(connectionKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.open[conn]; known != nil {
		known.deciding = true
	}
}

// evict closes the oldest waiting connection of the address that has the most. Connections with
// a complete request are closed only if there are no others.
func (c *connections) evict() {
	waiting, all := map[string]int{}, map[string]int{}
	for _, known := range c.open {
		all[known.remote]++
		if !known.deciding {
			waiting[known.remote]++
		}
	}
	count := waiting
	if len(waiting) == 0 {
		count = all
	}
	var victim net.Conn
	var of *connection
	for conn, known := range c.open {
		if known.deciding && len(waiting) > 0 {
			continue
		}
		if of == nil || count[known.remote] > count[of.remote] ||
			count[known.remote] == count[of.remote] && known.since.Before(of.since) {
			victim, of = conn, known
		}
	}
	delete(c.open, victim)
	// Close of a tls.Conn may wait for the peer to read an alert.
	if wrapped, ok := victim.(*tls.Conn); ok {
		victim = wrapped.NetConn()
	}
	_ = victim.Close()
}

// host is an address without its port.
func host(address string) string {
	if name, _, err := net.SplitHostPort(address); err == nil {
		return name
	}
	return address
}
