// Package breach records how a server broke the protocol in a session: what kind
// of breach, how often, and where the first of them was. The probe fills a Record
// while it talks, the rules make findings of what came out.
//
// What is odd and allowed is no breach: late answers to what was given up on,
// errors with the id null, requests with ids of any type, unknown notifications,
// blank lines.
package breach

import (
	"slices"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

// Kind is a way to break the protocol.
type Kind string

// The kinds.
const (
	// Malformed: what is meant to be a message, and is no valid JSON or no
	// JSON-RPC: cut short, a result and an error at once, a batch.
	Malformed Kind = "Malformed"
	// Oversized: a message far longer than the probe takes.
	Oversized Kind = "Oversized"
	// Twice: a second answer to one request.
	Twice Kind = "Twice"
	// Unasked: an answer with an id that no request had by then.
	Unasked Kind = "Unasked"
	// CursorTwice: a list that leads back to a page that was seen.
	CursorTwice Kind = "CursorTwice"
	// LongList: a list that was not at its end where the probe gave up.
	LongList Kind = "LongList"
	// SameName: two different tools of one name.
	SameName Kind = "SameName"
	// SameTool: a tool that is listed twice.
	SameTool Kind = "SameTool"
	// Nameless: something is listed that has no name to call it by.
	Nameless Kind = "Nameless"
	// Flood: messages without an end in place of an answer.
	Flood Kind = "Flood"
	// Unread: requests of the server whose answers it did not read.
	Unread Kind = "Unread"
)

// MaxSample bounds a sample, in bytes.
const MaxSample = 200

// Breach is all that was seen of one kind in a session.
type Breach struct {
	Kind Kind
	// Count is the number of times; at least 1.
	Count int
	// Sample is the beginning of the first: what came, or what is the matter with it.
	Sample string
	// Time of the first.
	Time time.Time
	// Phase and Capability are what the first came before the answer of.
	Phase      report.Phase
	Capability report.Capability

	at int64 // where the first ended, in bytes that came
}

// Record collects breaches, the kinds in the order in which they were first seen.
// The zero value is empty. Any goroutine may use it.
type Record struct {
	mu  sync.Mutex
	all []Breach
}

// Add counts one. at is the number of bytes that had come by then.
func (r *Record) Add(kind Kind, sample string, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.all {
		if r.all[i].Kind == kind {
			r.all[i].Count++
			return
		}
	}
	r.all = append(r.all, Breach{Kind: kind, Count: 1, Sample: report.Cut(sample, MaxSample), Time: time.Now(), at: at})
}

// Located are the breaches, with what they came before the answer of; a second
// answer with what it came after.
func (r *Record) Located(l ledger.Ledger) []Breach {
	r.mu.Lock()
	defer r.mu.Unlock()
	located := make([]Breach, 0, len(r.all))
	for _, b := range r.all {
		b.Phase, b.Capability = b.locate(l)
		located = append(located, b)
	}
	return located
}

func (b Breach) locate(l ledger.Ledger) (report.Phase, report.Capability) {
	next := slices.IndexFunc(l, func(e ledger.Exchange) bool { return e.Received == 0 || b.at <= e.Received })
	switch {
	case b.Kind == Twice && next > 0:
		next--
	case b.Kind == Twice && next < 0:
		next = len(l) - 1
	}
	if next < 0 {
		return report.PhaseShutdown, report.Capability{Kind: report.CapabilityServer}
	}
	return l[next].Phase, l[next].Capability
}
