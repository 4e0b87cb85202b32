package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Request is a request that belongs to no session, such as one of a web page, or one whose body is no message.
type Request struct {
	Method string
	// Target is another path, with its query, than that of the endpoint.
	Target string
	// Header may have a Host.
	Header http.Header
	Body   []byte
}

// Reply is the answer to a Request. Body is its beginning, or the first event of a stream.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Asker is a transport that can send such requests.
type Asker interface {
	Ask(ctx context.Context, r Request) (Reply, error)
}

// Ask sends a request to the endpoint and waits for the reply. It returns *Error, ErrBacklog or ctx.Err().
func (c *client) Ask(ctx context.Context, r Request) (Reply, error) {
	to := *c.url
	if r.Target != "" {
		to.RawPath, to.RawQuery, _ = strings.Cut(r.Target, "?")
		to.Path, _ = url.PathUnescape(to.RawPath) // if that fails, the path is empty
	}
	return c.askAt(ctx, &to, r)
}

// Ask sends a request; a POST goes to the address of the session's messages.
func (s *sse) Ask(ctx context.Context, r Request) (Reply, error) {
	s.mu.Lock()
	to := s.post
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet:
		to = s.url
	case to == nil:
		return Reply{}, errClosed
	}
	return s.askAt(ctx, to, r)
}

func (c *client) askAt(ctx context.Context, to *url.URL, r Request) (Reply, error) {
	type result struct {
		reply Reply
		why   *Error
	}
	got := make(chan result, 1)
	o := &outgoing{method: r.Method, text: c.compose(r.Method, to, r.Header, r.Body)}
	o.done = func(on *conn, answer *http.Response, why *Error) {
		if why != nil {
			got <- result{why: why}
			return
		}
		ended := context.AfterFunc(ctx, on.halve) // an event may never come
		defer ended()
		got <- result{reply: Reply{Status: answer.StatusCode, Header: answer.Header, Body: beginning(answer)}}
	}
	if _, _, err := c.enqueue(o); err != nil {
		return Reply{}, err
	}
	select {
	case r := <-got:
		if r.why != nil {
			return Reply{}, r.why
		}
		return r.reply, nil
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
}

// beginning reads a body of one message, or the first event of a stream.
func beginning(r *http.Response) []byte {
	if media, _ := kind(r); media == mediaEvents {
		events := newEventReader(r.Body, maxAside)
		for range maxEvents {
			if e, ok := events.next(); !ok || len(e.data) > 0 {
				return e.data
			}
		}
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, maxAside)) // a part is enough
	return bytes.TrimSpace(text)
}
