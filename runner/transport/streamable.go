package transport

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"
)

const (
	// again is the time to wait before a stream is resumed, if the server has not
	// said; maxAgain bounds how often that is done.
	again    = time.Second
	maxAgain = 1000
	// maxListen bounds it for the server's own stream.
	maxListen = 16
	// listenTime bounds the wait for a server that does not say whether it has such
	// a stream.
	listenTime = time.Second

	methodInitialize = "initialize"
)

// streamable is the streamable HTTP transport (specification 2025-11-25,
// basic/transports, and 2026-07-28, basic/transports/streamable-http).
type streamable struct {
	*client
	session string // guarded by client.mu
}

// StreamableHTTP talks to an endpoint by POST.
func StreamableHTTP(e Endpoint, handler Handler) Transport {
	return &streamable{client: newClient(e, handler)}
}

func (s *streamable) Open(_ context.Context, agent string) error { return s.begin(agent) }

func (s *streamable) Send(m Message) (start, end int64, err error) {
	header := s.headers(m)
	return s.enqueue(&outgoing{
		id: m.ID, owed: m.ID == "", method: http.MethodPost, text: s.compose(http.MethodPost, s.url, header, m.Text),
		done: func(c *conn, r *http.Response, why *Error) { s.posted(m, c, r, why) },
	})
}

func (s *streamable) headers(m Message) http.Header {
	h := http.Header{"Accept": {mediaJSON + ", " + mediaEvents}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if RevisionOf(s.version).Header {
		h.Set("Mcp-Protocol-Version", s.version)
	}
	if s.session != "" && m.Method != methodInitialize {
		h.Set("Mcp-Session-Id", s.session)
	}
	if m.Aside || RevisionOf(s.version).Stateless {
		maps.Copy(h, m.Header)
	}
	if !RevisionOf(s.version).Stateless {
		return h
	}
	if m.Method != "" {
		h.Set("Mcp-Method", m.Method)
	}
	if m.Name != "" {
		h.Set("Mcp-Name", HeaderValue(m.Name))
	}
	return h
}

func (s *streamable) posted(m Message, c *conn, r *http.Response, why *Error) {
	if why != nil {
		s.fail(m.ID, why)
		return
	}
	if r.StatusCode/100 != 2 {
		s.refuse(m.ID, r, s.ended404(status(r), m))
		return
	}
	if m.Method == methodInitialize && !m.Aside {
		if why := s.keep(r); why != nil {
			s.fail(m.ID, why)
			return
		}
	}
	media, why := kind(r)
	switch {
	case why != nil:
		s.fail(m.ID, why)
	case media == mediaEvents:
		s.follow(&stream{id: m.ID}, c, r.Body)
	case m.ID == "": // the rest of a successful response does not matter
		l, _ := whole(r, maxAside)
		s.show(l)
	default:
		s.body(m.ID, media, r)
	}
}

const maxSession = 4 << 10

// keep keeps the session id, which is visible ASCII.
func (s *streamable) keep(r *http.Response) *Error {
	id := r.Header.Get("Mcp-Session-Id")
	for _, b := range []byte(id) {
		if b < 0x21 || b > 0x7e {
			return errorf("the server's session id is not visible ASCII: %q", Sample([]byte(id)))
		}
	}
	if len(id) > maxSession {
		return errorf("the server's session id is longer than %d KiB", maxSession>>10)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = id
	return nil
}

// ended404 marks an error as the end of the session: status 404 for a request that
// names the session.
func (s *streamable) ended404(why *Error, m Message) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why.Status == http.StatusNotFound && s.session != "" && m.Method != methodInitialize && !m.Aside {
		why.Text, why.Gone = "the server has ended the session (HTTP 404)", true
	}
	return why
}

// body handles an answer that is one JSON text.
func (s *streamable) body(id, media string, r *http.Response) {
	l, err := whole(r, MaxMessage)
	if l.TooLong {
		_, _ = io.Copy(io.Discard, r.Body) // to learn its length
	}
	if err != nil {
		s.show(l)
		s.fail(id, &Error{Text: "the server's answer was cut off", Broken: true})
		return
	}
	if media != mediaJSON && media != "" {
		s.deliver(l) // the handler notes its kind
		s.fail(id, errorf("the server answered with content of type %q", media))
		return
	}
	s.deliver(l)
	s.fail(id, errorf("the body of the server's answer is no response to the request: %q", Sample(l.Text)))
}

// stream holds what is known of a stream of events over all of its connections.
type stream struct {
	id    string // of the request; "" for the server's own stream
	last  string // the id of the last event
	retry time.Duration
	tries int
	// standing: the server's own stream. ready is called when it is known whether
	// there is one.
	standing bool
	ready    func()
}

// follow reads one connection of a stream, and resumes the stream on another if
// needed.
func (s *streamable) follow(st *stream, c *conn, body io.Reader) {
	answered, why := s.events(st, c, body)
	switch {
	case answered:
	case why != nil:
		s.fail(st.id, why)
	case st.standing:
		s.resume(st, maxListen)
	case st.id == "":
	case st.last == "" || RevisionOf(s.revision()).Stateless:
		s.fail(st.id, &Error{Text: "the server ended the stream of events before its answer", Broken: true})
	default:
		s.resume(st, maxAgain)
	}
}

// events reads events until the stream ends. answered: they included the response to
// the request.
func (s *streamable) events(st *stream, c *conn, body io.Reader) (answered bool, why *Error) {
	limit := MaxMessage
	if st.id == "" && !st.standing {
		limit = maxAside
	}
	events := newEventReader(body, limit)
	events.lastID = st.last
	resumed := st.last != ""
	for range maxEvents {
		e, ok := events.next()
		st.last = events.lastID
		if events.retry != 0 {
			st.retry = events.retry
		}
		if !ok {
			return answered, nil
		}
		l := Line{Text: e.data, TooLong: e.tooLong}
		switch {
		case len(e.data) == 0:
		case e.kind != "" && e.kind != "message", resumed && s.replayed(l.Text), e.tooLong && limit == maxAside:
			s.show(l)
		case s.deliver(l) == st.id && st.id != "":
			answered = true
			c.halve() // further bytes are still read
		}
	}
	return answered, tooMany()
}

// replayed reports whether a message of a resumed stream is an answer that came before:
// some servers repeat more than they should.
func (s *streamable) replayed(text []byte) bool {
	id := answers(text)
	return id != "" && !s.alive(id)
}

// resume resumes a stream after a pause.
func (s *streamable) resume(st *stream, most int) {
	if st.tries++; st.tries > most {
		s.fail(st.id, errorf("the server ended the stream of events before its answer, %d times", most))
		return
	}
	wait := cmp.Or(st.retry, again)
	go func() {
		if s.pause(wait) && (st.standing || s.alive(st.id)) {
			s.get(st)
		}
	}()
}

func (s *streamable) get(st *stream) {
	header := s.headers(Message{})
	header.Set("Accept", mediaEvents)
	if st.last != "" {
		header.Set("Last-Event-Id", st.last)
	}
	o := &outgoing{method: http.MethodGet, text: s.compose(http.MethodGet, s.url, header, nil)}
	o.done = func(c *conn, r *http.Response, why *Error) { s.got(st, c, r, why) }
	if _, _, err := s.enqueue(o); err != nil {
		s.got(st, nil, nil, &Error{Text: err.Error()})
	}
}

// got handles the response to a request for a stream.
func (s *streamable) got(st *stream, c *conn, r *http.Response, why *Error) {
	if st.ready != nil {
		defer st.ready() // without a stream, when the response was read
	}
	if why == nil {
		var media string
		if media, why = kind(r); why == nil && (r.StatusCode != http.StatusOK || media != mediaEvents) {
			why = errorf("the server ended the stream of events before its answer, and does not go on with it (HTTP %d)", r.StatusCode)
		}
	}
	if why != nil {
		if r != nil {
			l, _ := whole(r, maxAside)
			s.show(l)
		}
		s.fail(st.id, why) // a server need not have a stream of its own
		return
	}
	if st.ready != nil {
		st.ready()
	}
	s.attach(st.id, c)
	s.follow(st, c, r.Body)
}

func (s *streamable) Listen(ctx context.Context) {
	if RevisionOf(s.revision()).Stateless {
		return
	}
	s.catchUp() // with the response to the end of the handshake
	open := make(chan struct{})
	s.get(&stream{standing: true, ready: sync.OnceFunc(func() { close(open) })})
	limited, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	select {
	case <-open:
	case <-s.ended:
	case <-limited.Done():
	}
}

// Close ends the session, if there is one.
func (s *streamable) Close() {
	s.mu.Lock()
	has := s.session != "" && !RevisionOf(s.version).Stateless
	s.mu.Unlock()
	if has {
		o := &outgoing{method: http.MethodDelete, text: s.compose(http.MethodDelete, s.url, s.headers(Message{}), nil)}
		o.done = func(*conn, *http.Response, *Error) { s.end() }
		_, _, _ = s.enqueue(o) // the end need not reach a server that reads nothing
	}
	s.finish()
}
