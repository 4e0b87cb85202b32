package sinkhole

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// The bounds of a Server.
const (
	// maxConnections at a time; one more ends the oldest.
	maxConnections = 256
	// closeDeadline is how long Close waits for what was sent to be read.
	closeDeadline = 4 * time.Second
	// lastCalls is how long Close still accepts traffic in flight.
	lastCalls = 100 * time.Millisecond
)

// Config holds what a Server needs.
type Config struct {
	// Authority signs the certificates of TLS.
	Authority *Authority
	// Absent are domains that must not resolve, see Registries.
	Absent []string
	// Names are what the server sees in place of the audit's own names; nil for those.
	Names *pseudonym.Names
	// Now returns the time that the server sees; nil for the true one.
	Now func() time.Time
}

// now returns the time that the server sees.
func (c Config) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// Server answers all traffic of a closed network namespace. All its input is hostile:
// every buffer has a limit, every wait a deadline, and the number of both is bounded.
type Server struct {
	config   Config
	names    *names
	resolver resolver
	answers  *answers
	captures chan Capture
	budget   budget
	flows    atomic.Uint64
	// late counts captures that were not received in time.
	late  atomic.Int64
	notes []string

	// stopped is closed when Close stops waiting for captures to be received.
	stopped chan struct{}
	// opening guards missed and ending: missed are the loopback addresses to listen on, and
	// no listener may be added once ending is set.
	opening   sync.Mutex
	missed    []netip.AddrPort
	ending    bool
	listeners []*net.TCPListener
	packets   []*net.UDPConn
	running   sync.WaitGroup
	// handing is held while a capture is sent; it guards closed.
	handing sync.RWMutex
	closed  bool
	open    connections
}

// Serve starts a server in the network namespace of the calling thread. The caller must
// receive from Captures until it is closed; the server under audit waits meanwhile.
func Serve(config Config) (*Server, error) {
	s := &Server{
		config: config, names: newNames(), answers: newAnswers(), captures: make(chan Capture), budget: newBudget(maxKept),
		stopped: make(chan struct{}),
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("start the sinkhole: %w", err)
	}
	s.resolver = resolver{names: s.names, audit: config.Names, self: strings.ToLower(host), absent: config.Absent}
	if err := s.listen(); err != nil {
		s.Close()
		return nil, fmt.Errorf("start the sinkhole: %w", err)
	}
	return s, nil
}

// Captures returns the channel of captures. Close closes it.
func (s *Server) Captures() <-chan Capture { return s.captures }

// Notes returns limitations for the report. They are complete after Close.
func (s *Server) Notes() []string {
	notes := slices.Clone(s.notes)
	if n := s.late.Load(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d captures were left when the sinkhole was closed", n))
	}
	return notes
}

// Close stops the server. Data sent before are still captured if they are received
// within a few seconds.
func (s *Server) Close() {
	soon := time.Now().Add(lastCalls)
	s.opening.Lock()
	s.ending = true
	s.opening.Unlock()
	for _, l := range s.listeners {
		_ = l.SetDeadline(soon) // a listener that is closed at once drops what waits
	}
	for _, p := range s.packets {
		_ = p.SetReadDeadline(soon)
	}
	hangUp := time.AfterFunc(closeDeadline/2, s.open.close)
	giveUp := time.AfterFunc(closeDeadline, func() { close(s.stopped) })
	s.running.Wait()
	hangUp.Stop()
	giveUp.Stop()
	for _, l := range s.listeners {
		_ = l.Close() // nobody is left to hear of it
	}
	for _, p := range s.packets {
		_ = p.Close() // as above
	}
	s.handing.Lock()
	defer s.handing.Unlock()
	s.closed = true
	close(s.captures)
}

// emit sends a capture. It waits for the receiver, so that nothing is lost.
func (s *Server) emit(c Capture) {
	s.handing.RLock()
	defer s.handing.RUnlock()
	if s.closed {
		s.late.Add(1)
		return
	}
	select {
	case s.captures <- c:
	case <-s.stopped:
		s.late.Add(1)
	}
}

// accept serves the connections of one listener.
func (s *Server) accept(l *net.TCPListener) {
	defer s.running.Done()
	for {
		conn, err := l.AcceptTCP()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil { // out of descriptors, or the client is gone
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.running.Add(1)
		leave := s.open.enter(conn)
		go func() {
			defer s.running.Done()
			defer leave()
			s.converse(conn)
		}()
	}
}

// converse serves one connection.
func (s *Server) converse(conn *net.TCPConn) {
	defer func() { _ = conn.Close() }() // whatever it says, nobody is there to hear it
	source := unmapped(conn.RemoteAddr())
	destination := originalDestination(conn)
	f := s.newFlow(source, destination, "tcp")
	defer f.end()
	if destination.Addr().IsLoopback() && destination.Port() != places.PortDNS && !s.stoodInFor(destination) {
		return // the server has found our own port; there is nothing behind it
	}
	newConversation(s, f, conn, destination).serve()
}

// budget is a shared amount that can only be spent.
type budget struct{ left *atomic.Int64 }

func newBudget(n int64) budget {
	b := budget{new(atomic.Int64)}
	b.left.Store(n)
	return b
}

// take takes up to n and returns how much it got. Once there was not enough, nothing is
// left.
func (b budget) take(n int) int {
	left := b.left.Add(-int64(n))
	return max(0, n+int(min(0, left)))
}

// unmapped returns the address of a socket without mapping of IPv4 and without zone.
func unmapped(a net.Addr) netip.AddrPort {
	var at netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		at = a.AddrPort()
	case *net.UDPAddr:
		at = a.AddrPort()
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}
