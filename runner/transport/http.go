package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of HTTP. The duration of a request is not limited here: the caller gives up
// by Cancel or Abort.
const (
	dialTime  = 10 * time.Second
	writeTime = 30 * time.Second
	// catchTime limits how long catchUp waits for earlier responses.
	catchTime = 250 * time.Millisecond
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 64 << 10
	// maxOpen bounds the connections that are open at a time.
	maxOpen = 256
)

// Endpoint is a server that listens.
type Endpoint struct {
	// URL is http or https, with a host.
	URL string
	// Dial connects to the server, whatever the URL says; nil: over the network.
	Dial func(ctx context.Context) (net.Conn, error)
	// Header is sent with every request.
	Header http.Header
	// Tap gets all that the server writes, as on the wire, including what is no message:
	// headers, comments among events, bytes after an answer. conn numbers the
	// connections; an empty piece is the end of one. end is the number of bytes received
	// on all of them. Tap is called from several goroutines, but in order for one
	// connection. It may be nil.
	Tap func(conn int, piece []byte, end int64)
}

// client makes HTTP requests, each on its own connection, so that all its bytes can
// be counted and claimed, and no answer is mistaken for another's. Requests are
// written one after the other, in the order of the queue. The server closes a
// connection, at the latest when we have ended our side: bytes that it wrote after we
// had closed could not be counted.
type client struct {
	url     *url.URL
	dial    func(ctx context.Context) (net.Conn, error)
	header  http.Header
	tap     func(conn int, piece []byte, end int64)
	handler Handler
	// unusable says what is wrong with the URL.
	unusable *Error
	queue    chan *outgoing
	ended    chan struct{}
	end      func()

	life context.Context // until Abort
	stop context.CancelFunc

	delivering sync.Mutex // held while the handler is called
	received   atomic.Int64

	mu      sync.Mutex
	sent    int64 // bytes written so far, and queued ones
	queued  int64
	closed  bool
	version string
	// admitted counts the connections.
	admitted int
	open     map[*conn]struct{}
	owed     map[*outgoing]struct{} // whose responses are awaited by catchUp
	live     map[string]*conn       // requests without an answer, and where it is to come; nil until it is made
}

type outgoing struct {
	id, method string
	text       []byte // the whole request, as HTTP/1.1
	// owed: the response only confirms the request, and is written before the server
	// continues. read is closed when it was read.
	owed bool
	read chan struct{}
	// done gets the response, or why there is none. The connection, nil without a
	// response, is closed when done returns.
	done func(c *conn, r *http.Response, why *Error)
}

func newClient(e Endpoint, handler Handler) *client {
	c := &client{
		header: e.Header.Clone(), handler: handler, tap: e.Tap,
		queue: make(chan *outgoing, maxBacklog), ended: make(chan struct{}),
		open: map[*conn]struct{}{}, owed: map[*outgoing]struct{}{}, live: map[string]*conn{},
	}
	if c.header == nil {
		c.header = http.Header{}
	}
	if c.tap == nil {
		c.tap = func(int, []byte, int64) {}
	}
	c.end = sync.OnceFunc(func() { close(c.ended) })
	c.life, c.stop = context.WithCancel(context.Background())
	to, err := url.Parse(e.URL)
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		c.unusable = &Error{Text: fmt.Sprintf("the server's URL %q is not of the form http://HOST/PATH", e.URL), Gone: true}
		to = &url.URL{Scheme: "http", Host: "invalid."}
		c.closed = true
		close(c.queue)
	}
	c.url, c.dial = to, dialer(to, e.Dial)
	go c.write()
	return c
}

// begin sets the name of the client, if none was given. An error is about the URL.
func (c *client) begin(agent string) error {
	if c.header.Get("User-Agent") == "" {
		c.header.Set("User-Agent", agent)
	}
	if c.unusable != nil {
		return c.unusable
	}
	return nil
}

// dialer adds TLS to a dial function if the URL asks for it.
func dialer(to *url.URL, dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	if dial == nil {
		address := net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), to.Scheme)) // a scheme is also the name of its port
		dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
	}
	if to.Scheme == "http" {
		return dial
	}
	return func(ctx context.Context) (net.Conn, error) {
		raw, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		secure := tls.Client(raw, &tls.Config{ServerName: to.Hostname(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, err
		}
		return secure, nil
	}
}

func (c *client) compose(method string, to *url.URL, header http.Header, body []byte) []byte {
	r := http.Request{Method: method, URL: to, Header: c.header.Clone(), Close: true}
	r.Header.Set("Accept-Encoding", "identity")
	if body != nil {
		r.Header.Set("Content-Type", mediaJSON)
	}
	maps.Copy(r.Header, header)
	r.Host = cmp.Or(header.Get("Host"), to.Host)
	if body != nil {
		body = bytes.TrimSuffix(body, []byte{'\n'})
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	var text bytes.Buffer
	_ = r.Write(&text) // a buffer does not fail, and the URL has a host
	return text.Bytes()
}

// enqueue puts a request into the queue.
func (c *client) enqueue(o *outgoing) (start, end int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.queued > maxBacklogBytes || len(c.open) >= maxOpen {
		return 0, 0, ErrBacklog
	}
	select {
	case c.queue <- o:
	default:
		return 0, 0, ErrBacklog
	}
	if o.id != "" {
		c.live[o.id] = nil
	}
	o.read = make(chan struct{})
	if o.owed {
		c.owed[o] = struct{}{}
	}
	size := int64(len(o.text))
	start = c.sent
	c.sent += size
	c.queued += size
	return start, c.sent, nil
}

// write sends the queued requests until the queue is closed. The answer to a DELETE
// comes last.
func (c *client) write() {
	left := false
	defer func() {
		if !left {
			c.end()
		}
	}()
	for o := range c.queue {
		left = o.method == http.MethodDelete
		conn, why := c.push(o)
		if why != nil {
			o.done(nil, nil, why)
			c.over(o)
			continue
		}
		go func() {
			defer conn.shut()
			defer c.over(o)
			r, why := conn.response(o.method) //nolint:bodyclose // closing it would read it to its end: the connection is closed instead
			if why != nil {
				o.done(nil, nil, why)
				return
			}
			o.done(conn, r, nil)
		}()
	}
}

// over notes that no more of the response to a request will be read.
func (c *client) over(o *outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owed, o)
	close(o.read)
}

// catchUp waits a little for owed responses, which were sent before the current
// message, so that their bytes are counted. It does not wait again for those that
// took too long.
func (c *client) catchUp() {
	c.mu.Lock()
	owed := slices.Collect(maps.Keys(c.owed))
	c.mu.Unlock()
	timer := time.NewTimer(catchTime)
	defer timer.Stop()
	for _, o := range owed {
		select {
		case <-o.read:
		case <-timer.C:
			c.mu.Lock()
			defer c.mu.Unlock()
			clear(c.owed)
			return
		}
	}
}

// push writes one request to a new connection.
func (c *client) push(o *outgoing) (*conn, *Error) {
	written := 0
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.queued -= int64(len(o.text))
		c.sent -= int64(len(o.text) - written) // the server will not read the rest
	}()
	ctx, cancel := context.WithTimeout(c.life, dialTime)
	defer cancel()
	raw, err := c.dial(ctx)
	if err != nil {
		return nil, &Error{Text: "connect to the server: " + Sample([]byte(err.Error())), Gone: true, Broken: true}
	}
	conn, ok := c.admit(raw, o.id)
	if !ok {
		return nil, &Error{Text: "the session is over", Gone: true}
	}
	_ = raw.SetWriteDeadline(time.Now().Add(writeTime)) // without one, Abort ends it
	// Reading the response shows an error: there may be a response nevertheless.
	written, _ = raw.Write(o.text)
	return conn, nil
}

// admit enters a connection, unless the session was aborted.
func (c *client) admit(raw net.Conn, id string) (*conn, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		_ = raw.Close()
		return nil, false
	}
	c.admitted++
	admitted := &conn{Conn: raw, client: c, number: c.admitted}
	c.open[admitted] = struct{}{}
	if _, is := c.live[id]; is {
		c.live[id] = admitted
	}
	return admitted, true
}

// attach notes that the answer to a request will come by another connection.
func (c *client) attach(id string, to *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, is := c.live[id]; is {
		c.live[id] = to
	}
}

// alive reports whether an answer to a request is still wanted.
func (c *client) alive(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.live[id]
	return is
}

// settled notes that a request has its answer, or will get none.
func (c *client) settled(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, id)
}

// Cancel ends our side of the request's connection, which tells the server that we do
// not wait for the answer. Bytes that still come are read and counted.
func (c *client) Cancel(id string) {
	c.mu.Lock()
	conn := c.live[id]
	delete(c.live, id)
	c.mu.Unlock()
	if conn != nil {
		conn.halve()
	}
}

func (c *client) Agree(revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = revision
}

func (c *client) revision() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// finish closes the queue.
func (c *client) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.queue)
	}
}

func (c *client) Abort() {
	c.finish()
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.end()
}

func (c *client) Ended() <-chan struct{} { return c.ended }

// pause waits, and reports whether the session was not aborted meanwhile.
func (c *client) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.life.Done():
		return false
	}
}
