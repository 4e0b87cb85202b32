package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// What may wait for a server that does not read: so many messages, with so many
// bytes. A server's own requests can have ids of megabytes, which our answers
// repeat.
const (
	maxBacklog      = 1024
	maxBacklogBytes = 32 << 20
)

var (
	errBacklog = errors.New("the server does not read its stdin")
	errTooLong = fmt.Errorf("a line on stdout is longer than %d MiB", maxLine>>20)
)

// wire moves messages and counts bytes. Two goroutines of its own read and
// write, so that neither a server that does not read nor one that does not
// stop writing can block the session.
type wire struct {
	conn   Conn
	answer func(message) any
	// heard is told the notifications.
	heard func(message)

	queue chan []byte
	// ended is closed when stdout has ended.
	ended chan struct{}

	mu        sync.Mutex
	sent      int64 // bytes handed to stdin so far, the queue included
	written   int64 // bytes that are not in the queue any more
	closed    bool  // no more may be queued
	waiting   string
	response  chan received
	pollution Pollution
	instead   string          // the first bad line since a response is waited for
	changed   map[string]bool // the list_changed notifications that came
}

// received is a response, or the error that stands for it.
type received struct {
	message message
	end     int64
	err     error
}

func newWire(conn Conn, answer func(message) any, heard func(message)) *wire {
	w := &wire{
		conn: conn, answer: answer, heard: heard,
		queue: make(chan []byte, maxBacklog), ended: make(chan struct{}),
		changed: map[string]bool{},
	}
	go w.write()
	go w.read()
	return w
}

// write empties the queue into stdin and then closes it. After an error it
// only empties: the server's end shows on stdout.
func (w *wire) write() {
	var failed error
	for text := range w.queue {
		if failed == nil {
			_, failed = w.conn.Stdin.Write(text)
		}
		w.mu.Lock()
		w.written += int64(len(text))
		w.mu.Unlock()
	}
	_ = w.conn.Stdin.Close() // it may be closed already; nothing depends on it
}

// send queues one message and returns its range of bytes in stdin.
func (w *wire) send(v any) (start, end int64, err error) {
	text, err := encode(v)
	if err != nil {
		return 0, 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.sent-w.written > maxBacklogBytes {
		return 0, 0, errBacklog
	}
	select {
	case w.queue <- text:
	default:
		return 0, 0, errBacklog
	}
	start = w.sent
	w.sent += int64(len(text))
	return start, w.sent, nil
}

// close ends stdin once everything queued is written.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
}

// expect makes the wire hand the response to id to the returned channel, and
// no response to any earlier request.
func (w *wire) expect(id int) <-chan received {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.response, w.instead = strconv.Itoa(id), make(chan received, 1), ""
	return w.response
}

// read reads stdout to its end.
func (w *wire) read() {
	defer close(w.ended)
	lines := newLineReader(w.conn.Stdout, maxLine)
	for {
		l, err := lines.next()
		if err != nil {
			return
		}
		if w.conn.Received != nil {
			w.conn.Received(l.text, l.end)
		}
		w.receive(l)
	}
}

func (w *wire) receive(l line) {
	if len(bytes.TrimSpace(l.text)) == 0 {
		return
	}
	m, ok := parseMessage(l.text)
	switch {
	case l.tooLong:
		// It may be the response that is waited for: nobody can tell.
		w.pollute(l)
		w.deliver(received{err: errTooLong, end: l.end})
	case !ok:
		w.pollute(l)
	case m.isResponse():
		w.respond(m, l.end)
	case m.isRequest():
		// A server that does not read gets no answers; its own request fails.
		_, _, _ = w.send(w.answer(m))
	default:
		w.heard(m)
		w.notice(m.method)
	}
}

// respond hands a response on when it is the one that is waited for. A null id
// is that of an error about a request that the server could not read: ours is
// the only one.
func (w *wire) respond(m message, end int64) {
	w.mu.Lock()
	expected := string(m.id) == w.waiting || (string(m.id) == "null" && m.err != nil)
	w.mu.Unlock()
	if expected {
		w.deliver(received{message: m, end: end})
	}
}

func (w *wire) deliver(r received) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.response != nil {
		w.response <- r // has room: it is used once
		w.response, w.waiting = nil, ""
	}
}

func (w *wire) pollute(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pollution.Lines == 0 {
		w.pollution.Sample, w.pollution.end = sample(l.text), l.end
	}
	w.pollution.Lines++
	if w.instead == "" {
		w.instead = sample(l.text)
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
