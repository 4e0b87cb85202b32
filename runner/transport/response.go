package transport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
)

// conn is the connection of one request. It counts the bytes received.
type conn struct {
	net.Conn
	client *client
	number int
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if end := c.client.received.Add(int64(n)); n > 0 {
		c.client.tap(c.number, p[:n], end)
	}
	return n, err
}

// shut reads the connection to its end, and removes it.
func (c *conn) shut() {
	c.halve()
	_, _ = io.Copy(io.Discard, c) // reading counts the bytes
	_ = c.Close()
	c.client.tap(c.number, nil, c.client.received.Load())
	c.client.mu.Lock()
	defer c.client.mu.Unlock()
	delete(c.client.open, c)
}

// halve closes our side of the connection, which HTTP servers take for a client that
// has left, and keeps the server's side open.
func (c *conn) halve() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = c.Close()
}

// maxInformational bounds the responses of status 1xx before the final one.
const maxInformational = 8

func (c *conn) response(method string) (*http.Response, *Error) {
	head := &capped{from: c, left: maxHeader}
	from := bufio.NewReaderSize(head, 4<<10)
	for range maxInformational {
		r, err := http.ReadResponse(from, &http.Request{Method: method})
		switch {
		case err != nil && head.left <= 0:
			return nil, errorf("the header of the server's response is longer than %d KiB", maxHeader>>10)
		case err != nil && head.left == maxHeader:
			return nil, &Error{Text: "the server closed the connection without a response", Broken: true}
		case err != nil:
			return nil, &Error{Text: fmt.Sprintf("the server's response is no HTTP: %q", Sample([]byte(err.Error()))), Broken: true}
		case r.StatusCode >= http.StatusOK:
			head.left = math.MaxInt64
			return r, nil
		}
	}
	return nil, errorf("the server sent %d informational responses and no other", maxInformational)
}

// capped is a reader that ends when nothing is left.
type capped struct {
	from io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.EOF
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// maxAside bounds what is kept of a text that is no answer, in bytes: each connection
// may have one at the same time.
const maxAside = 64 << 10

// whole reads a body of one message. It fails if the body was cut off.
func whole(r *http.Response, limit int) (Line, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	l := Line{Text: text}
	if len(text) > limit {
		l.cut(limit)
	}
	return l, err
}

// kind returns the media type of a body, and an error if it cannot be read.
func kind(r *http.Response) (string, *Error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return "", errorf("the server compressed its answer unasked, by %q", Sample([]byte(encoding)))
	}
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	if err != nil && given != "" {
		return Sample([]byte(given)), nil
	}
	return media, nil
}

const (
	mediaJSON   = "application/json"
	mediaEvents = "text/event-stream"
)

// answers returns the id of the request that a message responds to; "" if it is no
// response.
func answers(text []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil || m["method"] != nil {
		return ""
	}
	return string(m["id"])
}

// deliver passes a complete message on. It returns the id of the request that it
// answers.
func (c *client) deliver(l Line) string {
	id := answers(l.Text)
	if id != "" {
		c.catchUp()
	}
	c.delivering.Lock()
	defer c.delivering.Unlock()
	l.End = c.received.Load()
	c.handler.Receive(l)
	if id != "" {
		c.settled(id)
	}
	return id
}

// show passes on text that is no message.
func (c *client) show(l Line) {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	l.End = c.received.Load()
	c.handler.See(l)
}

// fail reports that a request gets no answer, if it has none yet.
func (c *client) fail(id string, why *Error) {
	if id == "" || !c.alive(id) {
		return
	}
	c.settled(id)
	c.delivering.Lock()
	defer c.delivering.Unlock()
	c.handler.Fail(id, why)
}

// refuse passes on a response that is no success.
func (c *client) refuse(id string, r *http.Response, why *Error) {
	l, _ := whole(r, maxAside) // a part is enough
	c.show(l)
	if location := r.Header.Get("Location"); location != "" && r.StatusCode < http.StatusBadRequest {
		why.Text += fmt.Sprintf(", which points to %q", Sample([]byte(location)))
	} else if said := Sample(l.Text); said != "" {
		why.Text += fmt.Sprintf(": %q", said)
	}
	c.settled(id)
	c.delivering.Lock()
	defer c.delivering.Unlock()
	l.End = c.received.Load()
	c.handler.Refuse(id, l, why)
}

// status returns the error of a response that is no success.
func status(r *http.Response) *Error {
	return &Error{Text: fmt.Sprintf("HTTP %d from the server", r.StatusCode), Status: r.StatusCode}
}
