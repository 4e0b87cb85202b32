// Package transport moves the messages of a session between the probe and one
// server: over the pipes of its stdin and stdout, over streamable HTTP (revisions
// 2025-03-26 to 2026-07-28), or over HTTP+SSE (2024-11-05).
//
// The probe's wire is above it and knows what the messages mean. Here they are
// counted bytes: the ledger uses the numbers of bytes sent and received over all
// connections of the session.
//
// The server is taken for hostile. Whatever it sends is bounded, messages that it
// does not read wait in a bounded queue, and nothing that it fails to do can block
// the session, which may Abort at any time. Over HTTP it follows no redirect, uses
// no proxy of the environment, keeps no cookie, accepts no compression, and dials
// no other address than the server's.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
)

const (
	// MaxMessage bounds a message, 8 MiB: a line on stdout, the body of a response,
	// the data of an event.
	MaxMessage = 8 << 20
	// MaxSample bounds what is kept of a bad message, in bytes.
	MaxSample = 200
)

// Bounds of the queue for a server that does not read, in messages and in bytes. A
// server's own requests can have ids of megabytes, which our answers repeat.
const (
	maxBacklog      = 1024
	maxBacklogBytes = 32 << 20
)

// ErrBacklog is the error of Send when the queue is full or closed.
var ErrBacklog = errors.New("the server does not read what is sent to it")

// Message is one message to the server.
type Message struct {
	// Text is the JSON, with a newline at its end.
	Text []byte
	// ID of a request, as in the JSON; "" for a message that is not answered.
	ID string
	// Method of a request or notification. Name of the tool, prompt or resource, which
	// the stateless revision wants in a header.
	Method, Name string
	// Header has more headers, for HTTP. Aside: it is sent as another client, with the Host of these
	// headers and without an effect on the session.
	Header http.Header
	Aside  bool
}

// Line is a received message, or a text in place of one.
type Line struct {
	Text []byte
	// End is the number of bytes received up to and including its newline (or
	// whatever else ends it).
	End int64
	// TooLong: Text is only the first MaxSample bytes.
	TooLong bool
}

// Handler handles what the server sends. Its methods are called one at a time.
type Handler interface {
	// Receive handles a text that should be a message.
	Receive(l Line)
	// See handles text of the server that is not meant to be a message.
	See(l Line)
	// Refuse reports that a message, a request if id is not "", was answered by an
	// HTTP status that is no success. The body, which See has had, may be a
	// JSON-RPC error, which says more than why.
	Refuse(id string, body Line, why *Error)
	// Fail reports that a request will not be answered any more. It may have been
	// answered before.
	Fail(id string, why *Error)
}

// Error says why a request has no answer, in words for people. Texts of the server
// in it are quoted and bounded.
type Error struct {
	Text string
	// Status of the HTTP response; 0 when there was none.
	Status int
	// Gone: no other request will be answered either.
	Gone bool
	// Broken: the connection failed, perhaps because the server's process ended.
	Broken bool
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Transport moves messages. Any goroutine may call its methods, even from within
// the Handler.
type Transport interface {
	// Open prepares for sending. agent is the name of the client. It returns *Error
	// or ctx.Err().
	Open(ctx context.Context, agent string) error
	// Send queues one message and returns its range in the sent bytes. The error is
	// ErrBacklog.
	Send(m Message) (start, end int64, err error)
	// Agree sets the negotiated revision.
	Agree(revision string)
	// Listen opens the stream for the server's own messages, once the handshake is
	// over, and waits a little until it is open.
	Listen(ctx context.Context)
	// Cancel gives up on the answer to a request.
	Cancel(id string)
	// Close ends the session once everything queued is sent.
	Close()
	// Abort ends everything at once.
	Abort()
	// Ended returns a channel that is closed when nothing more will come.
	Ended() <-chan struct{}
}

// Sample returns the beginning of a text for people: at most MaxSample bytes.
func Sample(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(bytes.ToValidUTF8(text[:min(len(text), MaxSample)], []byte("?")))
}
