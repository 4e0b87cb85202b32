package sinkhole

import (
	"net"
	"sync"
)

// connections holds the open connections, numbered in order of arrival.
type connections struct {
	mu     sync.Mutex
	left   *sync.Cond
	open   map[uint64]net.Conn
	next   uint64
	oldest uint64 // none below it is open
}

// enter adds a connection. If there are too many it closes the oldest and waits for it
// to leave, so that idle ones cannot keep others out. leave removes the connection.
func (c *connections) enter(conn net.Conn) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open, c.left = map[uint64]net.Conn{}, sync.NewCond(&c.mu)
	}
	for len(c.open) >= maxConnections {
		for c.open[c.oldest] == nil {
			c.oldest++
		}
		_ = c.open[c.oldest].Close() // wakes up whoever serves it
		c.left.Wait()
	}
	number := c.next
	c.next++
	c.open[number] = conn
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, number)
		c.left.Signal()
	}
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close() // wakes up whoever serves it
	}
}
