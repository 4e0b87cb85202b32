package probe

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// breach records a fault of the last answer.
func (s *session) breach(kind breach.Kind, what string) {
	var at int64
	for _, e := range s.result.Ledger {
		at = max(at, e.Received)
	}
	s.wire.watch.Add(kind, what, at)
}

// inspect looks for listed items without a name, and for tools with the same name. It takes only the first
// lists, when they are complete, so that nothing counts twice.
func (s *session) inspect(m manifest.Manifest) {
	for _, k := range kinds {
		digests := map[string]string{}
		for _, item := range manifest.Items(k.of, *m.List(k.of)) {
			switch first, twice := digests[item.Name]; {
			case item.Name == "":
				s.breach(breach.Nameless, k.method)
			case k.of != report.CapabilityTool:
			case !twice:
				digests[item.Name] = item.Digest()
			case first == item.Digest():
				s.breach(breach.SameTool, item.Name)
			default:
				s.breach(breach.SameName, item.Name)
			}
		}
	}
}

// maxStep bounds the distance between the ids of two requests.
const maxStep = 4096

// nextID returns the id of the next request, which the server cannot predict, so that an
// answer sent ahead of a request does not match it. The first is 1; all stay far below 2^31, as
// some servers require.
func nextID(last int) int {
	if last == 0 {
		return 1
	}
	return last + 1 + rand.IntN(maxStep)
}

// What a server may send before it answers a request: messages that are no requests,
// and requests. An honest one that tells its progress all the time stays below.
const (
	maxNotices = 100_000
	maxAsked   = 256
)

// minOversized is the length in bytes of a message that breaks the protocol. The probe refuses shorter ones, too, which
// a server that is asked for all its data may send rightly.
const minOversized = 64 << 20

// watch checks messages for breaches of the protocol. The zero value is ready to use.
type watch struct {
	breach.Record
	answers breach.Answers

	mu             sync.Mutex
	notices, asked int  // since the last request of ours
	closing        bool // what the server asks now has no answer to read

	// end is where the last message ended, and length how much came for it.
	end, length int64
}

// came records the end and the length of a message. Messages come one at a time.
func (w *watch) came(l transport.Line) { w.length, w.end = l.End-w.end, l.End }

// sent records a request of ours.
func (w *watch) sent(id int) {
	w.answers.Sent(strconv.Itoa(id))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices, w.asked = 0, 0
}

// closed records that nothing more will be sent.
func (w *watch) closed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
}

// answered checks an answer. The id null is that of an error about a message that
// the server could not read.
func (w *watch) answered(m message, l transport.Line) {
	kind := breach.Malformed
	if string(m.id) != "null" {
		kind = w.answers.Came(string(m.id))
	} else if m.err != nil {
		kind = ""
	}
	if kind != "" {
		w.Add(kind, sample(l.Text), l.End)
	}
}

// onNotification checks a notification.
func (w *watch) onNotification(l transport.Line) {
	w.mu.Lock()
	w.notices++
	flood := w.notices == maxNotices
	w.mu.Unlock()
	if flood {
		w.Add(breach.Flood, sample(l.Text), l.End)
	}
}

// onRequest checks a request, which was answered or could not be.
func (w *watch) onRequest(l transport.Line, answered bool) {
	w.mu.Lock()
	w.asked++
	flood, unread := w.asked == maxAsked, !answered && !w.closing
	w.mu.Unlock()
	if flood {
		w.Add(breach.Flood, sample(l.Text), l.End)
	}
	if unread {
		w.Add(breach.Unread, sample(l.Text), l.End)
	}
}

// onMalformed checks a line that is not a message, and reports whether that is a breach of the protocol:
// it is meant as a message, or nothing else may be sent there.
func (w *watch) onMalformed(l transport.Line, http bool) bool {
	text := bytes.TrimSpace(l.Text)
	switch {
	case l.TooLong && w.length < minOversized:
	case l.TooLong:
		w.Add(breach.Oversized, sample(text), l.End)
	case http, (text[0] == '{' || text[0] == '[') && bytes.Contains(text, []byte(`"jsonrpc"`)):
		w.Add(breach.Malformed, sample(text), l.End)
	default:
		return false
	}
	return true
}
