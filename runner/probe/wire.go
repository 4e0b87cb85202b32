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

// wire dispatches messages and matches responses to requests. The transport under it
// moves them, and calls its methods Receive, See, Refuse and Fail.
type wire struct {
	conn   Conn
	answer func(message) any
	// heard is called for each notification.
	heard func(message)
	under transport.Transport
	watch watch
	// ended is closed when the server can send nothing more.
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

// transport makes the transport of the connection.
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

// open prepares for the first message. It returns *transport.Error, ctx.Err() or errTimeout.
func (w *wire) open(ctx context.Context, agent string, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := w.under.Open(limited, agent)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return errTimeout
	}
	return err
}

// agree sets the negotiated revision.
func (w *wire) agree(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
	w.under.Agree(version)
}

// send queues one message and returns its range in the bytes that are sent.
func (w *wire) send(v any) (start, end int64, err error) { return w.sendAs(nil, v) }

// sendAs sends a message like another client, with that client's headers; nil for our own.
func (w *wire) sendAs(header http.Header, v any) (start, end int64, err error) {
	text, err := encode(v)
	if err != nil {
		return 0, 0, err
	}
	m := transport.Message{Text: w.conn.Names.OutBytes(text)}
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

// close sends the queued messages and ends the conversation.
func (w *wire) close() {
	w.watch.closed()
	w.under.Close()
}

// outlet names the channel of the server's messages.
func (w *wire) outlet() string {
	if w.conn.HTTP == nil {
		return "stdout"
	}
	return "stream of events"
}

// parted is closed when the conversation with a listening server has ended; nil over stdio, where
// the server should exit.
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

// expect returns a channel for the response to a request, and gives up on earlier
// requests.
func (w *wire) expect(id int) <-chan received {
	w.forget()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch.sent(id)
	w.asked, w.response, w.instead = strconv.Itoa(id), make(chan received, 1), ""
	w.waiting = w.asked
	return w.response
}

// beside sends a request without waiting for its response, and returns its position.
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

// Receive takes a line that should be a message.
func (w *wire) Receive(l transport.Line) {
	l.Text = w.conn.Names.InBytes(l.Text)
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

// See passes a line on to Conn.Received.
func (w *wire) See(l transport.Line) {
	if w.conn.Received != nil {
		w.conn.Received(w.conn.Names.InBytes(l.Text), l.End)
	}
}

// batch splits a batch, if the revision has them.
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
		if id := idOf(l.Text); id == "" || w.waitsFor(id) { // otherwise it comes too late
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

// idOf returns the id in the beginning of a message; "" if it is not there.
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

// respond delivers the response to the current request. An error with
// a null id is about a request that the server could not read, which can only be the current one.
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

// Refuse takes an HTTP status other than success. A JSON-RPC error in the body
// takes precedence, unless the session has ended.
func (w *wire) Refuse(id string, body transport.Line, why *transport.Error) {
	if !w.waitsFor(id) {
		return
	}
	if said := parseRefusal(w.conn.Names.InBytes(body.Text)); said != nil && (!why.Gone || said.Code == codeMethodNotFound) {
		w.deliver(received{message: message{err: said}, end: body.End})
		return
	}
	w.deliver(received{err: why, end: body.End})
}

// exitTime bounds the wait for the end of the server's process after that of
// a connection.
const exitTime = time.Second

// Fail takes the reason why a request will have no answer. It checks whether the server has ended, or only
// a connection.
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

// maxPollution bounds how much of a stdout that is not MCP is kept, in bytes: a screen of usage.
const maxPollution = 4 << 10

func (w *wire) pollute(l transport.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.watch.onMalformed(l, w.conn.HTTP != nil) {
		if w.pollution.Lines == 0 {
			w.pollution.Sample, w.pollution.end = sample(l.Text), l.End
		}
		w.pollution.Lines++
		if room := maxPollution - len(w.pollution.Text); room > 0 {
			w.pollution.Text += string(l.Text[:min(len(l.Text), room)]) + "\n"
		}
	}
	if w.instead == "" {
		w.instead = sample(l.Text)
	}
}

// insteadOf returns the first bad line that came in place of the response.
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

// Notifications that a list has changed.
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

// takeChanged returns the announcements since the last call.
func (w *wire) takeChanged() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := w.changed
	w.changed = map[string]bool{}
	return changed
}

// encode is json.Marshal and a newline, without escapes for HTML.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return text.Bytes(), nil
}
