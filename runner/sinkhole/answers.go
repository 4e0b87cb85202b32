package sinkhole

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The bounds of what an answer is made from: of a request's body in bytes, of the
// strings that come back from it, of the kinds of requests and of the requests outside
// of calls that are remembered, and of the fields that callers were seen to read, in
// all and of one kind.
const (
	maxEchoed  = 64 << 10
	maxString  = 1 << 10
	maxKinds   = 1024
	maxFixed   = 4096
	maxFields  = 4096
	maxPerKind = 64
	// maxTurns is how often a kind gets another form.
	maxTurns = 3 * forms
	// maxRecent is how many requests of one call are remembered.
	maxRecent = 16
)

// Call is a moment of a call of the server under audit, as its client sees it.
type Call struct {
	// Ended: it was answered; otherwise it begins.
	Ended bool `json:"ended,omitempty"`
	// Refusal is the error that it was answered with.
	Refusal string `json:"refusal,omitempty"`
}

// Call is told of each call. What a server asked for during one that it refused is
// answered otherwise the next time: with what the refusal says was missing, or in
// another form.
func (s *Server) Call(c Call) { s.answers.call(c) }

// answers chooses the shape of each JSON answer. It changes by refusals alone: who is
// content gets the same answer again. What was first asked outside of calls never
// changes, so that a server which loads what it advertises looks the same when it is
// listed again.
type answers struct {
	mu sync.Mutex
	// kinds of requests and what is known of their callers; fixed are the shapes of
	// requests outside of calls.
	kinds map[uint64]*shape
	fixed map[uint64]shape
	// calling: a call is under way. recent are the kinds that were asked for in it,
	// the latest last. fields counts those of all kinds.
	calling bool
	recent  []*shape
	fields  int
}

// shape is that of an answer: a form, how often it was changed, and fields.
type shape struct {
	form, turns int
	fields      []field
}

func newAnswers() *answers {
	return &answers{kinds: map[uint64]*shape{}, fixed: map[uint64]shape{}}
}

// shape returns that of the answer to a request of a kind, both as hashes.
func (a *answers) shape(kind, request uint64) shape {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, is := a.fixed[request]; is {
		return s
	}
	s := a.kinds[kind]
	if s == nil {
		if len(a.kinds) >= maxKinds {
			return shape{}
		}
		s = &shape{}
		a.kinds[kind] = s
	}
	now := shape{form: s.form, fields: slices.Clone(s.fields)}
	if !a.calling {
		if len(a.fixed) < maxFixed {
			a.fixed[request] = now
		}
		return now
	}
	a.recent = append(slices.DeleteFunc(a.recent, func(r *shape) bool { return r == s }), s)
	a.recent = a.recent[max(0, len(a.recent)-maxRecent):]
	return now
}

func (a *answers) call(c Call) {
	missing := missingFields(c.Refusal)
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.Refusal != "" && a.calling {
		a.learn(missing)
	}
	a.calling, a.recent = !c.Ended, nil
}

// learn changes the answers to what was asked in a call that was refused for want of
// some fields. They belong to the latest answer that did not have them; where all had,
// the caller reads them elsewhere in the answer. Where nothing is learned that way, the
// latest gets another form.
func (a *answers) learn(missing []field) {
	learned := false
	for _, f := range missing {
		elsewhere := f
		elsewhere.anywhere = true
		learned = a.add(f) || f.path != "" && a.add(elsewhere) || learned
	}
	if learned || len(a.recent) == 0 {
		return
	}
	if latest := a.recent[len(a.recent)-1]; latest.turns < maxTurns {
		latest.turns++
		latest.form = latest.turns % forms
	}
}

// add gives a field to the latest answer that has none such; false if all have.
func (a *answers) add(f field) bool {
	for _, s := range slices.Backward(a.recent) {
		if slices.Contains(s.fields, f) || len(s.fields) >= maxPerKind || a.fields >= maxFields {
			continue
		}
		count := len(s.fields)
		// What was learned of the same place before is wrong, or no longer enough.
		s.fields = slices.DeleteFunc(s.fields, func(old field) bool { return old.path == f.path && old.anywhere == f.anywhere })
		s.fields = append(s.fields, f)
		a.fields += len(s.fields) - count
		return true
	}
	return false
}

// word is a part of a path that is the same in all requests of a kind: not a name, a
// number or an identifier of something.
var word = regexp.MustCompile(`^(?:[a-z][a-z_-]{1,20}|v\d+)$`)

// json returns the answer to a request whose body was sent.
func (t *conversation) json(r *http.Request, sent []byte) string {
	kind := []string{r.Method, r.Host}
	for _, part := range strings.Split(r.URL.Path, "/") {
		if word.MatchString(part) {
			kind = append(kind, part)
		} else {
			kind = append(kind, anyElement)
		}
	}
	s := t.server.answers.shape(hash(kind...), hash(r.Method, r.Host, r.URL.RequestURI(), string(sent)))
	url := "https://" + r.Host + r.URL.Path
	text, err := json.Marshal(reply(s.form, url[:min(len(url), maxString)], sent, s.fields))
	if err != nil {
		return bodyJSON // no value of reply does that
	}
	return string(text) + "\n"
}

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(parts, "\x00")) // never fails
	return h.Sum64()
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), maxEchoed-l.Len())]) // never fails
	return len(p), nil
}
