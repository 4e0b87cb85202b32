// Package transport moves the messages of a session between the probe and one
// server: over the pipes of its stdin and stdout, over streamable HTTP (revisions
// 2025-03-26 to 2026-07-28), or over HTTP+SSE (2024-11-05).
//
// The probe's wire stands above it and knows what the messages say. Here they are
// bytes, counted: the ledger is kept in the numbers of bytes that had been sent
// and had come, over all connections of the session.
//
// The server is hostile until shown otherwise. Whatever it sends is bounded, what
// it does not read waits in a bounded queue, and nothing that it leaves undone can
// block the session, which may Abort at any time. Over HTTP no redirect is
// followed, no proxy of the environment is used, no cookie is kept, no compression
// is understood, and no address other than that of the server is ever dialled.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
)

const (
	// MaxMessage is the longest message that is taken for one, 8 MiB: a line on
	// stdout, the body of a response, the data of an event.
	MaxMessage = 8 << 20
	// MaxSample is how much of a bad message is kept, in bytes.
	MaxSample = 200
)

// What may wait for a server that does not read: so many messages, with so many
// bytes. A server's own requests can have ids of megabytes, which our answers repeat.
const (
	maxBacklog      = 1024
	maxBacklogBytes = 32 << 20
)

// ErrBacklog is the error of Send when nothing more may wait, or all is over.
var ErrBacklog = errors.New("the server does not read what is sent to it")

// Message is one message to the server.
type Message struct {
	// Text is the JSON, with a newline at its end.
	Text []byte
	// ID of a request, as it is in the JSON; "" for what is not answered.
	ID string
	// Method of a request or notification. Name of the tool, prompt or resource, where
	// the stateless revision wants it in a header.
	Method, Name string
	// Header are more headers, for HTTP. Aside is one that is sent as somebody else: with the Host of
	// these headers, and without an effect on the session.
	Header http.Header
	Aside  bool
}

// Line is a message that came, or what came in the place of one.
type Line struct {
	Text []byte
	// End is the number of bytes that had come when it was whole, its newline (or
	// what else ends it) included.
	End int64
	// TooLong: Text is only the first MaxSample bytes.
	TooLong bool
}

// Handler takes what comes. Its methods are called one at a time.
type Handler interface {
	// Receive takes what should be a message.
	Receive(l Line)
	// See takes text of the server that is not meant to be a message.
	See(l Line)
	// Refuse tells that the request with an id, or what had none, was answered by
	// an HTTP status that is no success. The body may be a JSON-RPC error, which
	// says more than why does; it has been seen.
	Refuse(id string, body Line, why *Error)
	// Fail tells that the request with an id will not be answered any more. That it
	// was already does not matter.
	Fail(id string, why *Error)
}

// Error is why a request has no answer, in words for people. What it repeats of
// the server is quoted and bounded.
type Error struct {
	Text string
	// Status of the HTTP response; 0 when there was none.
	Status int
	// Gone: no other request will be answered either.
	Gone bool
	// Broken: the connection failed, perhaps because the server's process ended.
	Broken bool
}

// Error is the text.
func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Transport moves messages. Any goroutine may call its methods, from within the
// Handler, too.
type Transport interface {
	// Open makes ready to send. agent is the name of the client. It ends when ctx
	// does; the error is an *Error or that of ctx.
	Open(ctx context.Context, agent string) error
	// Send queues one message and returns its range in the bytes that are sent. The
	// error is ErrBacklog.
	Send(m Message) (start, end int64, err error)
	// Agree sets the revision that is spoken from now on.
	Agree(revision string)
	// Listen opens a stream for what the server says by itself, once the handshake
	// is over, and waits a little until it is open.
	Listen(ctx context.Context)
	// Cancel gives up on the answer to a request.
	Cancel(id string)
	// Close takes leave of the server once everything queued is sent.
	Close()
	// Abort ends everything at once.
	Abort()
	// Ended is closed when nothing will come any more.
	Ended() <-chan struct{}
}

// Sample is the beginning of a text for people: at most MaxSample bytes.
func Sample(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(bytes.ToValidUTF8(text[:min(len(text), MaxSample)], []byte("?")))
}
