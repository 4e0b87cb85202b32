package transport

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// sse is the HTTP+SSE transport (specification 2024-11-05, basic/transports): all
// messages come by one stream of events, and its first event has the address to send
// messages to.
type sse struct {
	*client
	agreed func() // called when the address is known, or there will be none
	known  chan struct{}

	// guarded by client.mu
	post   *url.URL
	failed *Error
}

// SSE sends messages to the address that the stream of events names, which must have
// the stream's own origin.
func SSE(e Endpoint, handler Handler) Transport {
	s := &sse{client: newClient(e, handler), known: make(chan struct{})}
	s.agreed = sync.OnceFunc(func() { close(s.known) })
	return s
}

// Open opens the stream, and waits for the address to send to.
func (s *sse) Open(ctx context.Context, agent string) error {
	if err := s.begin(agent); err != nil {
		return err
	}
	o := &outgoing{method: http.MethodGet, done: s.readStream}
	o.text = s.compose(http.MethodGet, s.url, http.Header{"Accept": {mediaEvents}}, nil)
	if _, _, err := s.enqueue(o); err != nil {
		return err
	}
	select {
	case <-s.known:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.post == nil {
		return s.failed
	}
	return nil
}

// readStream reads the response to the request for the stream, and its events. Its end is
// the end of the session.
func (s *sse) readStream(_ *conn, r *http.Response, why *Error) {
	defer s.end()
	defer s.agreed()
	if why == nil {
		var media string
		switch media, why = kind(r); {
		case why != nil:
		case r.StatusCode != http.StatusOK:
			why = status(r)
		case media != mediaEvents:
			why = errorf("the server answered the request for a stream of events with content of type %q", media)
		default:
			why = s.events(r.Body)
		}
	}
	why.Gone = true
	s.mu.Lock()
	s.failed = why
	waiting := slices.Collect(maps.Keys(s.live))
	s.mu.Unlock()
	for _, id := range waiting {
		s.fail(id, why)
	}
}

// events reads the stream to its end, and returns why it ended.
func (s *sse) events(body io.Reader) *Error {
	events := newEventReader(body, MaxMessage)
	for range maxEvents {
		e, ok := events.next()
		l := Line{Text: e.data, TooLong: e.tooLong}
		switch {
		case !ok:
			return &Error{Text: "the server ended its stream of events", Broken: true}
		case e.kind == "endpoint":
			s.show(l)
			if why := s.endpoint(e); why != nil {
				return why
			}
		case len(e.data) == 0:
		case e.kind != "" && e.kind != "message":
			s.show(l)
		default:
			s.deliver(l)
		}
	}
	return tooMany()
}

// endpoint sets the address for messages, once.
func (s *sse) endpoint(e event) *Error {
	to, err := s.url.Parse(string(e.data))
	switch {
	case err != nil || e.tooLong:
		return errorf("the server's event names no address for messages: %q", Sample(e.data))
	case !sameOrigin(s.url, to):
		return errorf("the server wants messages to be sent to another origin: %q", Sample(e.data))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.post == nil {
		s.post = to
		s.agreed()
	}
	return nil
}

// sameOrigin reports whether two URLs are of the same server. All names of the loopback
// count as one: a server may use another than we do.
func sameOrigin(a, b *url.URL) bool {
	host := func(u *url.URL) string {
		name := strings.ToLower(u.Hostname())
		if ip, err := netip.ParseAddr(name); name == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
			name = "localhost"
		}
		return net.JoinHostPort(name, cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	}
	return a.Scheme == b.Scheme && host(a) == host(b) && b.User == nil
}

var errClosed = errors.New("the session has not begun")

func (s *sse) Send(m Message) (start, end int64, err error) {
	s.mu.Lock()
	to, version := s.post, s.version
	s.mu.Unlock()
	if to == nil {
		return 0, 0, errClosed
	}
	header := http.Header{"Accept": {mediaJSON + ", " + mediaEvents}}
	if RevisionOf(version).Header {
		header.Set("Mcp-Protocol-Version", version)
	}
	return s.enqueue(&outgoing{
		id: m.ID, owed: true, method: http.MethodPost, text: s.compose(http.MethodPost, to, header, m.Text),
		done: func(_ *conn, r *http.Response, why *Error) { s.posted(m.ID, r, why) },
	})
}

// posted handles the response to a POST, which only confirms the message.
func (s *sse) posted(id string, r *http.Response, why *Error) {
	switch {
	case why != nil:
		s.fail(id, why)
	case r.StatusCode/100 != 2:
		s.refuse(id, r, status(r))
	default:
		l, _ := whole(r, maxAside) // says nothing
		s.show(l)
	}
}

// Listen waits until the server has confirmed the end of the handshake; the stream is
// already open.
func (s *sse) Listen(context.Context) { s.catchUp() }

// Cancel forgets a request: other answers come by the same stream.
func (s *sse) Cancel(id string) { s.settled(id) }

// Close sends what is queued, and nothing more: the session ends with the stream, which
// Abort closes.
func (s *sse) Close() { s.finish() }
