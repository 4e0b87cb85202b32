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

// breach records what is wrong with the last answer that came.
func (s *session) breach(kind breach.Kind, what string) {
	var at int64
	for _, e := range s.result.Ledger {
		at = max(at, e.Received)
	}
	s.wire.watch.Add(kind, what, at)
}

// inspect looks for names that are missing from the lists, and for tools that have
// the same. It is for the first lists, when they are whole: what is listed again, or
// led back to, would count again.
func (s *session) inspect(m manifest.Manifest) {
	for _, k := range kinds {
		digests := map[string]string{}
		for _, item := range manifest.Items(k.of, *m.List(k.of)) {
			switch first, twice := digests[item.Name]; {
			case item.Name == "":
				s.breach(breach.Nameless, k.method)
			case k.of != report.CapabilityTool:
			case !twice:
				digests[item.Name] = item.Digest
			case first == item.Digest:
				s.breach(breach.SameTool, item.Name)
			default:
				s.breach(breach.SameName, item.Name)
			}
		}
	}
}

// maxStep is how far the ids of two requests are apart at most.
const maxStep = 4096

// nextID is the id of the next request: one that the server cannot know, so that an
// answer to it that was made before it was asked does not look like one. The first
// is 1. They stay far below 2^31, as some servers want.
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

// minOversized is from when on a message is too long, in bytes: not every one that
// the probe does not take is, for a server asked for all that it has may have a lot.
const minOversized = 64 << 20

// watch looks at what comes for breaches of the protocol. The zero value is ready.
type watch struct {
	breach.Record
	answers breach.Answers

	mu             sync.Mutex
	notices, asked int  // since the last request of ours
	closing        bool // what the server asks now has no answer to read

	// end is where the last message ended, and length how much came for it.
	end, length int64
}

// came tells of a message, before it is looked at. Messages come one at a time.
func (w *watch) came(l transport.Line) { w.length, w.end = l.End-w.end, l.End }

// sent tells of a request of ours.
func (w *watch) sent(id int) {
	w.answers.Sent(strconv.Itoa(id))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices, w.asked = 0, 0
}

// closed tells that we will not send anything any more.
func (w *watch) closed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
}

// answered looks at an answer. One with the id null is an error about something that
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

// onNotification looks at a notification, and requested at a request, which could be answered
// or not.
func (w *watch) onNotification(l transport.Line) {
	w.mu.Lock()
	w.notices++
	flood := w.notices == maxNotices
	w.mu.Unlock()
	if flood {
		w.Add(breach.Flood, sample(l.Text), l.End)
	}
}

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

// onMalformed looks at what is no message, and reports whether that is a breach of its own:
// it is meant to be a message, or there is nothing else that it could be.
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
