package transport

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// recorder is a handler that records each call as a line.
type recorder chan string

func (r recorder) Receive(l Line) {
	if l.TooLong {
		r <- "too long"
		return
	}
	r <- "message " + string(l.Text)
}
func (r recorder) See(Line)                   {}
func (r recorder) Fail(id string, why *Error) { r <- fmt.Sprintf("failed %s: %v", id, why) }
func (r recorder) Refuse(id string, body Line, why *Error) {
	r <- fmt.Sprintf("refused %s by %d (gone %v): %v; %s", id, why.Status, why.Gone, why, body.Text)
}

// next takes the next line, which has to contain a text.
func (r recorder) next(t *testing.T, part string) {
	t.Helper()
	select {
	case said := <-r:
		if !strings.Contains(said, part) {
			t.Fatalf("%q, want %q in it", said, part)
		}
	case <-time.After(poll.Patience):
		t.Fatalf("nothing, want %q", part)
	}
}

// listen serves until the test ends, and counts the bytes that the server reads and
// writes.
func listen(t *testing.T, handler http.HandlerFunc) (url string, counts *counted) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	counts = &counted{Listener: server.Listener}
	server.Listener = counts
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL, counts
}

type counted struct {
	net.Listener
	read, written atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: c, of: l}, nil
}

type countedConn struct {
	net.Conn
	of *counted
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.of.read.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.of.written.Add(int64(n))
	return n, err
}

// post makes a streamable transport.
func post(t *testing.T, e Endpoint) (Transport, recorder) {
	t.Helper()
	told := make(recorder, 1000)
	s := StreamableHTTP(e, told)
	t.Cleanup(s.Abort)
	if err := s.Open(t.Context(), "tester/1"); err != nil {
		t.Fatal(err)
	}
	return s, told
}

func send(t *testing.T, s Transport, m Message) (start, end int64) {
	t.Helper()
	if m.Text == nil {
		m.Text = []byte(`{"jsonrpc":"2.0","method":"` + m.Method + "\"}\n")
	}
	start, end, err := s.Send(m)
	if err != nil {
		t.Fatal(err)
	}
	return start, end
}

// ask is a request, by its id.
func ask(id string) Message { return Message{ID: id, Method: "tools/list"} }

// raw serves bytes as they are to every connection, and then closes it.
func raw(t *testing.T, response string) Endpoint {
	t.Helper()
	return Endpoint{URL: "http://server/mcp", Dial: func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer func() { _ = theirs.Close() }()
			if _, err := theirs.Read(make([]byte, 64<<10)); err != nil {
				return
			}
			_, _ = theirs.Write([]byte(response)) // we may have read enough
		}()
		return ours, nil
	}}
}
