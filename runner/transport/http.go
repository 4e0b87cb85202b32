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

// Limits of HTTP. The time that a request may take is not among them: whoever
// waits for its answer gives up by Cancel or Abort.
const (
	dialTime  = 10 * time.Second
	writeTime = 30 * time.Second
	// catchTime is how long an answer waits for the ends of others.
	catchTime = 250 * time.Millisecond
	// maxHeader is the longest header of a response, in bytes.
	maxHeader = 64 << 10
	// maxOpen is how many connections may be open at a time.
	maxOpen = 256
)

// Endpoint is a server that listens.
type Endpoint struct {
	// URL is http or https, with a host.
	URL string
	// Dial makes a connection to the server, whatever the URL says; nil stands for
	// the network.
	Dial func(ctx context.Context) (net.Conn, error)
	// Header is sent with every request.
	Header http.Header
	// Tap is given all that the server writes, as it is on the wire: what is said in a
	// header, in a comment among events or after an answer is no message, and has come
	// all the same. conn numbers the connections; a piece of no bytes is the end of one.
	// end is the number of bytes that had come by all of them. Tap is called from
	// several goroutines, but those of one connection in order. It may be nil.
	Tap func(conn int, piece []byte, end int64)
}

// client makes HTTP requests, each on a connection of its own, so that all bytes
// of it can be counted and claimed, and no answer is mistaken for another's. They
// are written one after the other, in the order in which they were queued. It is the
// server that closes a connection, at the latest when it sees that we have nothing
// more to say: what it would write to one that we had closed, nobody could count.
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
	sent    int64 // bytes written so far, and those that are queued
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
	// owed: the response says only that the request has come, and is written before
	// the server goes on. read is closed when it was read.
	owed bool
	read chan struct{}
	// done takes the response, or why there is none. The connection, nil without a
	// response, is closed when it returns.
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

// begin sets the name of the client, where none was given. The error comes from the
// URL.
func (c *client) begin(agent string) error {
	if c.header.Get("User-Agent") == "" {
		c.header.Set("User-Agent", agent)
	}
	if c.unusable != nil {
		return c.unusable
	}
	return nil
}

// dialer adds what a URL asks for to a way to dial.
func dialer(to *url.URL, dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	if dial == nil {
		address := net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), to.Scheme)) // a service name is as good as a port
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
	_ = r.Write(&text) // a buffer takes all, and the URL has a host
	return text.Bytes()
}

// enqueue lets a request wait for its turn.
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

// write sends what is queued until there will be no more. The answer to a DELETE is
// what comes last.
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
			r, why := conn.response(o.method) //nolint:bodyclose // to close it would be to read it to its end: the connection is closed
			if why != nil {
				o.done(nil, nil, why)
				return
			}
			o.done(conn, r, nil)
		}()
	}
}

// over notes that the response to a request was read, as far as it will be.
func (c *client) over(o *outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owed, o)
	close(o.read)
}

// catchUp waits a little for the responses that are owed, which came before what has
// come now, so that their bytes are counted. It does not wait again for those that
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

// push writes one request to a connection of its own.
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
	// An error shows when the response is read: there may be one nevertheless.
	written, _ = raw.Write(o.text)
	return conn, nil
}

// admit enters a connection, unless all is over.
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

// attach notes that the answer to a request is to come by another connection.
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

// settled notes that a request has its answer, or will have none.
func (c *client) settled(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, id)
}

// Cancel tells the server by the end of what it reads that its answer is not
// waited for. What comes nevertheless is read, and counted, as long as it comes.
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

// finish lets nothing more be queued.
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

// pause waits, unless all is over before.
func (c *client) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.life.Done():
		return false
	}
}
