package sinkhole

import (
	"io"
	"log"
	"net"
	"sync"
)

// silent discards log messages about hostile clients.
var silent = log.New(io.Discard, "", 0)

// closing is a connection that signals its end.
type closing struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *closing) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// single is a listener of one connection; it ends when that is closed.
type single struct {
	conn  *closing
	given bool
}

func (s *single) Accept() (net.Conn, error) {
	if s.given {
		<-s.conn.closed
		return nil, io.EOF
	}
	s.given = true
	return s.conn, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }
