// Package pipes is a network without a kernel: a bubble of testing/synctest sees
// everything that waits on it, so that a test of time limits takes no time.
package pipes

import (
	"context"
	"net"
	"sync"
)

// Listener accepts what Dial connects.
type Listener struct {
	dialed chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen returns a Listener for the bubble that it is called in.
func Listen() *Listener {
	closed := make(chan struct{})
	return &Listener{dialed: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// Dial connects to the listener.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.dialed <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dialed:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error { l.close(); return nil }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{} }
