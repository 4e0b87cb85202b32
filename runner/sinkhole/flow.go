package sinkhole

import (
	"net/netip"
	"sync"
	"time"
)

// The bounds of what is handed over, in bytes: of one flow, so that none can crowd out
// the others, and of all. What exceeds them is only counted.
const (
	maxFlow = 64 << 20
	maxKept = 512 << 20
)

// flow records what one connection or datagram sends. It is safe for concurrent use: an
// HTTP server reads ahead while it answers a request.
type flow struct {
	server *Server

	mu sync.Mutex
	// about holds what all parts share; spoken is set when data arrived since the last
	// part, first at about.Time.
	about  Capture
	spoken bool
	data   []byte
	// offset of data in the flow, size of the flow so far, and bytes kept of it.
	offset, size, kept int64
	parts              int
	// branched is set when the data are in flows of their own.
	branched bool
}

func (s *Server) newFlow(source, dest netip.AddrPort, protocol string) *flow {
	named := s.names.name(dest.Addr())
	return &flow{server: s, about: Capture{
		Time: time.Now(), Flow: s.flows.Add(1), Source: source, Destination: dest, Datagram: protocol != "tcp",
		Host: named, Named: named, Protocol: protocol,
	}}
}

// Write records what was sent. It never fails.
func (f *flow) Write(p []byte) (int, error) {
	sent := len(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.spoken && len(p) > 0 {
		f.spoken, f.about.Time = true, time.Now()
	}
	f.size += int64(len(p))
	for len(p) > 0 {
		n := min(len(p), maxData-len(f.data), int(maxFlow-f.kept))
		n = f.server.budget.take(n)
		if n <= 0 {
			break
		}
		f.data = append(f.data, p[:n]...)
		f.kept += int64(n)
		p = p[n:]
		if len(f.data) == maxData {
			// p is counted already, but belongs to later parts.
			f.emit(f.size - int64(len(p)))
		}
	}
	return sent, nil
}

// describe names the protocol, host and request of this part and the next. An empty text
// changes nothing.
func (f *flow) describe(protocol, host, request string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if protocol != "" {
		f.about.Protocol = protocol
	}
	if host != "" {
		f.about.Host = line(host, maxHost)
	}
	if request != "" {
		f.about.Request = line(request, maxRequest)
	}
}

// greet records what a client offered in a TLS handshake.
func (f *flow) greet(offers string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.about.Hello = line(offers, maxHello)
}

// part ends a part, unless nothing was sent since the last. What follows is a new
// request.
func (f *flow) part() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > f.offset {
		f.emit(f.size)
	}
	f.about.Request, f.about.Continues = "", false
}

// end ends the flow. It emits at least one part.
func (f *flow) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > f.offset || f.parts == 0 && !f.branched {
		f.emit(f.size)
	}
}

// branch makes a flow for one of several concurrent requests on a connection.
func (f *flow) branch() *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.branched = true
	b := &flow{server: f.server, about: f.about}
	b.about.Continues = false
	b.about.Flow, b.about.Time = f.server.flows.Add(1), time.Now()
	return b
}

// refused marks a flow that ended before its client sent anything under our
// certificate.
func (f *flow) refused() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.about.Opaque = true
}

func (f *flow) emit(size int64) {
	if f.about.Request == "" {
		f.about.Request = firstLine(f.data) // also of the parts that go on with it
	}
	c := f.about
	f.about.Continues = true
	c.Data, c.Offset, c.Size = f.data, f.offset, size
	f.data, f.offset, f.parts, f.spoken = nil, size, f.parts+1, false
	f.server.emit(c)
}

// empty reports whether nothing was sent.
func (f *flow) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size == 0 && !f.branched
}
