package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// errTooLong: a message came that cannot be read.
var errTooLong = fmt.Errorf("a message of the server is longer than %d MiB", transport.MaxMessage>>20)

// wire tells messages apart, and knows which are waited for. The transport under it
// moves them, and calls its methods Receive, See, Refuse and Fail.
type wire struct {
	conn   Conn
	answer func(message) any
	// heard is told the notifications.
	heard func(message)
	under transport.Transport
	watch watch
	// ended is closed when nothing will come any more.
	ended <-chan struct{}

	mu        sync.Mutex
	version   string // the revision that was agreed on
	asked     string // the id of the last request
	waiting   string // the same, while it has no answer
	response  chan received
	pollution Pollution
	instead   string              // the first bad message since a response is waited for
	changed   map[string]bool     // the list_changed notifications that came
	mirrors   map[string][]mirror // by tool
}

// received is a response, or the error that stands for it.
type received struct {
	message message
	end     int64
	err     error
}

func newWire(conn Conn, answer func(message) any, heard func(message)) *wire {
	w := &wire{conn: conn, answer: answer, heard: heard, changed: map[string]bool{}, mirrors: map[string][]mirror{}}
	w.under = w.transport()
	w.ended = w.under.Ended()
	return w
}

// transport returns that which the connection is made for.
func (w *wire) transport() transport.Transport {
	if w.conn.HTTP == nil {
		return transport.Stdio(w.conn.Stdin, w.conn.Stdout, w.conn.Long, w)
	}
	endpoint := transport.Endpoint{URL: w.conn.HTTP.URL, Dial: w.conn.HTTP.Dial, Header: w.conn.HTTP.Header, Tap: w.conn.HTTP.Tap}
	if w.conn.HTTP.Transport == report.TransportSSE {
		return transport.SSE(endpoint, w)
	}
	return transport.StreamableHTTP(endpoint, w)
}

// open makes ready for the first message. Errors: *transport.Error, that of ctx, and
// errTimeout.
func (w *wire) open(ctx context.Context, agent string, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := w.under.Open(limited, agent)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return errTimeout
	}
	return err
}

// agree sets the revision that is spoken from now on.
func (w *wire) agree(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
	w.under.Agree(version)
}

// send queues one message and returns its range in the bytes that are sent.
func (w *wire) send(v any) (start, end int64, err error) { return w.sendAs(nil, v) }

// sendAs sends it as somebody else does, where these have headers.
func (w *wire) sendAs(header http.Header, v any) (start, end int64, err error) {
	text, err := encode(v)
	if err != nil {
		return 0, 0, err
	}
	m := transport.Message{Text: text}
	if w.conn.HTTP != nil {
		w.describe(&m)
		if header != nil {
			m.Header, m.Aside = header, true
		}
	}
	if m.Method == methodCancelled && w.stateless() {
		w.forget() // there, the end of the request's stream says so
		return 0, 0, nil
	}
	return w.under.Send(m)
}

func (w *wire) stateless() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return transport.RevisionOf(w.version).Stateless
}

// close takes leave of the server once everything queued is sent.
func (w *wire) close() {
	w.watch.closed()
	w.under.Close()
}

// outlet returns what the server's messages come by.
func (w *wire) outlet() string {
	if w.conn.HTTP == nil {
		return "stdout"
	}
	return "stream of events"
}

// parted is closed when leave was taken of a server that stays: nil over stdio, where
// it is to exit.
func (w *wire) parted() <-chan struct{} {
	if w.conn.HTTP == nil {
		return nil
	}
	return w.ended
}

// abort ends everything at once. Stdout is still read to its end.
func (w *wire) abort() {
	w.watch.closed()
	w.under.Abort()
}

// expect makes the wire hand the response to id to the returned channel, and
// no response to any earlier request.
func (w *wire) expect(id int) <-chan received {
	w.forget()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch.sent(id)
	w.asked, w.response, w.instead = strconv.Itoa(id), make(chan received, 1), ""
	w.waiting = w.asked
	return w.response
}

// beside sends a request that nothing waits for, and returns where it begins.
func (w *wire) beside(id int, v any) (start int64, err error) {
	w.watch.sent(id)
	start, _, err = w.send(v)
	return start, err
}

// forget gives up on the last request. If it was answered in a batch, the transport
// does not know.
func (w *wire) forget() {
	w.mu.Lock()
	id := w.asked
	w.waiting, w.response = "", nil
	w.mu.Unlock()
	w.under.Cancel(id)
}

// Receive takes what should be a message.
func (w *wire) Receive(l transport.Line) {
	w.watch.came(l)
	w.See(l)
	if len(bytes.TrimSpace(l.Text)) == 0 {
		return
	}
	if batch, ok := w.batch(l); ok {
		for _, text := range batch {
			w.receive(transport.Line{Text: text, End: l.End})
		}
		return
	}
	w.receive(l)
}

// See takes what came, for whoever looks for something in it.
func (w *wire) See(l transport.Line) {
	if w.conn.Received != nil {
		w.conn.Received(l.Text, l.End)
	}
}

// batch takes a batch apart, where the revision has them.
func (w *wire) batch(l transport.Line) ([]json.RawMessage, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !transport.RevisionOf(w.version).Batches || l.TooLong || l.Text[0] != '[' {
		return nil, false
	}
	messages, ok := array(l.Text)
	return messages, ok && len(messages) > 0
}

func (w *wire) receive(l transport.Line) {
	m, ok := parseMessage(l.Text)
	switch {
	case l.TooLong:
		w.pollute(l)
		if id := idOf(l.Text); id == "" || w.waitsFor(id) { // else it is one that came too late
			w.deliver(received{err: errTooLong, end: l.End})
		}
	case !ok:
		w.pollute(l)
	case m.isResponse():
		w.watch.answered(m, l)
		w.respond(m, l.End)
	case m.isRequest():
		// A server that does not read gets no answers; its own request fails.
		_, _, err := w.send(w.answer(m))
		w.watch.onRequest(l, err == nil)
	default:
		w.watch.onNotification(l)
		w.heard(m)
		w.notice(m.method)
	}
}

// idOf returns the id of a message of which only the beginning is there; "" where that
// does not show it.
func idOf(text []byte) string {
	from := json.NewDecoder(bytes.NewReader(text))
	if start, err := from.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for from.More() {
		name, err := from.Token()
		var value json.RawMessage
		if err != nil || from.Decode(&value) != nil {
			return ""
		}
		if name == "id" {
			return string(value)
		}
	}
	return ""
}

// respond hands a response on when it is the one that is waited for. An error with
// a null id is about a request that the server could not read: ours is the only one.
func (w *wire) respond(m message, end int64) {
	if w.waitsFor(string(m.id)) || (string(m.id) == "null" && m.err != nil) {
		w.deliver(received{message: m, end: end})
	}
}

func (w *wire) waitsFor(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return id == w.waiting
}

func (w *wire) deliver(r received) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.response != nil {
		w.learn(r.message.result)
		w.response <- r // has room: it is used once
		w.response, w.waiting = nil, ""
	}
}

// Refuse takes an HTTP status that is no success. A JSON-RPC error in the body says
// more, unless the session has ended.
func (w *wire) Refuse(id string, body transport.Line, why *transport.Error) {
	if !w.waitsFor(id) {
		return
	}
	if said := parseRefusal(body.Text); said != nil && (!why.Gone || said.Code == codeMethodNotFound) {
		w.deliver(received{message: message{err: said}, end: body.End})
		return
	}
	w.deliver(received{err: why, end: body.End})
}

// exitTime is how long the end of the server's process may be in coming after that of
// a connection.
const exitTime = time.Second

// Fail takes why a request will have no answer. It tells the end of the server from
// that of a connection.
func (w *wire) Fail(id string, why *transport.Error) {
	if !w.waitsFor(id) {
		return
	}
	var err error = why
	if why.Broken {
		select {
		case <-w.conn.Exited:
			err = errGone
		case <-time.After(exitTime):
		}
	}
	w.deliver(received{err: err})
}

func (w *wire) pollute(l transport.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.watch.onMalformed(l, w.conn.HTTP != nil) {
		if w.pollution.Lines == 0 {
			w.pollution.Sample, w.pollution.end = sample(l.Text), l.End
		}
		w.pollution.Lines++
	}
	if w.instead == "" {
		w.instead = sample(l.Text)
	}
}

// insteadOf is the first bad line that came in place of the response.
func (w *wire) insteadOf() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.instead
}

func (w *wire) polluted() Pollution {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pollution
}

// toolsChanged and the others announce that a list is no longer what it was.
const (
	toolsChanged     = "notifications/tools/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
)

func (w *wire) notice(method string) {
	switch method {
	case toolsChanged, resourcesChanged, promptsChanged:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed[method] = true
	}
}

// hasChanged reports whether there are any to take.
func (w *wire) hasChanged() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.changed) > 0
}

// takeChanged returns the announcements that came since it was last asked.
func (w *wire) takeChanged() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := w.changed
	w.changed = map[string]bool{}
	return changed
}

// encode is json.Marshal and a newline, without escapes for HTML: servers
// shall see a "<" as one.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return text.Bytes(), nil
}
