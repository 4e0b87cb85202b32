package sinkhole

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// Bounds: bytes of a request body, bytes of a string echoed from it, kinds of requests,
// remembered requests outside calls, and fields that callers read, in all and per kind.
const (
	maxEchoed  = 64 << 10
	maxString  = 1 << 10
	maxKinds   = 1024
	maxFixed   = 4096
	maxFields  = 8192
	maxPerKind = 256
	// maxTurns bounds how often a kind changes its form.
	maxTurns = 3 * forms
	// maxArguments bounds the words kept from a call's arguments.
	maxArguments = 512
	// maxRecent bounds the remembered requests of one call.
	maxRecent = 16
)

// Call reports the beginning or the end of a tool call, as the client sees it.
type Call struct {
	// Arguments of a call that begins, as JSON. Paths that differ only in words from the
	// arguments belong to one kind of request.
	Arguments string `json:"arguments,omitempty"`
	// Ended is set when the call was answered; otherwise it begins.
	Ended bool `json:"ended,omitempty"`
	// Refusal is the error the call was answered with.
	Refusal string `json:"refusal,omitempty"`
	// Reads are the fields of answers that the server's code reads. The first call that
	// has them sets them.
	Reads sources.Fields `json:"reads,omitempty"`
	// Missed are the loopback addresses that refused the server's connections.
	Missed []netip.AddrPort `json:"missed,omitempty"`
}

// Call must be called for each moment of each call. When the server refuses a call, the
// requests it made during that call are answered differently the next time: with what
// the refusal says was missing, or in another form.
func (s *Server) Call(c Call) {
	s.neighbours(c.Missed)
	s.answers.call(c)
}

// answers chooses the shape of each JSON answer. Only refusals change it. Answers to
// requests first made outside calls never change: a server that loads what it
// advertises must look the same when it is listed again.
type answers struct {
	mu sync.Mutex
	// kinds maps each kind of request to its shape; fixed holds the shapes of requests
	// outside calls.
	kinds map[uint64]*shape
	fixed map[uint64]shape
	// calling is set during a call; recent are the kinds requested in it, the latest
	// last; given are the words of its arguments. fields counts the fields of all kinds.
	// polls counts each of its requests.
	calling bool
	recent  []*shape
	polls   map[uint64]int
	fields  int
	given   map[string]bool
	// reads are the fields that the server's code reads; nil while unknown.
	reads sources.Fields
}

// shape of an answer: its form, how often that changed, and its fields.
type shape struct {
	form, turns int
	fields      []field
	// xml is set when the caller tried to read XML; file is the extension of a format it tried to read.
	xml  bool
	file string
	// status of HTTP; 0 means 200.
	status int
	// reads are the fields for formRead and formReads.
	reads sources.Fields
	// finished is the status for a caller that waits for a job to end; "" for any other.
	finished string
}

func newAnswers() *answers {
	return &answers{kinds: map[uint64]*shape{}, fixed: map[uint64]shape{}}
}

// shape returns the shape of the answer to a request. kind and request are hashes.
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
	now := *s
	now.fields, now.reads = slices.Clone(s.fields), a.reads
	if !a.calling {
		if len(a.fixed) < maxFixed {
			a.fixed[request] = now
		}
		return now
	}
	now.finished = a.polled(request)
	a.recent = append(slices.DeleteFunc(a.recent, func(r *shape) bool { return r == s }), s)
	a.recent = a.recent[max(0, len(a.recent)-maxRecent):]
	return now
}

func (a *answers) call(c Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reads == nil {
		a.reads = c.Reads
	}
	if a.calling && c.Refusal != "" {
		a.refused(c.Refusal[:min(len(c.Refusal), MaxRefusal)])
	}
	a.calling, a.recent, a.given, a.polls = !c.Ended, nil, map[string]bool{}, map[uint64]int{}
	for _, word := range argument.FindAllString(c.Arguments[:min(len(c.Arguments), MaxRefusal)], maxArguments) {
		a.given[word] = true
	}
}

// refused changes the answers to what was asked in a call that ended with a refusal: the
// latest to another format or status if the refusal asks for one, else to one with the
// fields that were missing.
func (a *answers) refused(refusal string) {
	if len(a.recent) == 0 {
		return
	}
	latest, file := a.recent[len(a.recent)-1], wanted(refusal)
	switch next := slices.Index(statuses, latest.status) + 1; {
	case noXML.MatchString(refusal):
		latest.xml = true
	case file != "" && latest.file != file:
		latest.file = file
	case next < len(statuses) && wrongStatus.MatchString(refusal):
		latest.status = statuses[next]
	default:
		a.learn(missingFields(refusal))
	}
}

// kind returns the parts of a path, with those that vary within a kind replaced by anyElement.
func (a *answers) kind(path string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if !word.MatchString(part) || a.given[part] {
			parts[i] = anyElement
		}
	}
	return parts
}

// learn adds missing fields to the latest answer without them. If all answers have them,
// the caller reads them elsewhere in the answer; a missing list may have to be the whole
// answer. If nothing is learned that way, the latest answer gets another form.
func (a *answers) learn(missing []field) {
	learned, list := false, field{kind: "array"}
	for _, f := range missing {
		elsewhere := f
		elsewhere.anywhere = true
		learned = a.add(f) || f.path != "" && a.add(elsewhere) || f.kind == list.kind && a.add(list) || learned
	}
	latest, order := a.recent[len(a.recent)-1], formsUnread
	if a.reads != nil {
		order = formsRead
	}
	named := slices.ContainsFunc(missing, func(f field) bool { return f.anywhere })
	if !learned && latest.turns < maxTurns || named && latest.turns == 0 && a.reads != nil {
		latest.turns++
		latest.file = ""
		latest.form = order[latest.turns%len(order)]
	}
}

// add adds a field to the latest answer without it; false if all have it.
func (a *answers) add(f field) bool {
	for _, s := range slices.Backward(a.recent) {
		if slices.Contains(s.fields, f) || len(s.fields) >= maxPerKind || a.fields >= maxFields {
			continue
		}
		count := len(s.fields)
		// What was learned about this place before is wrong or incomplete.
		s.fields = slices.DeleteFunc(s.fields, func(old field) bool { return old.path == f.path && old.anywhere == f.anywhere })
		s.fields = append(s.fields, f)
		a.fields += len(s.fields) - count
		return true
	}
	return false
}

// word matches a part of a path that is the same in all requests of a kind: not a name,
// number or identifier. argument matches a word of arguments that may occur in a path.
var (
	word     = lazyregexp.New(`^(?:[a-z][a-z_-]{1,20}|v\d+)$`)
	argument = lazyregexp.New(`[a-z][a-z_-]{1,20}`)
)

// statuses are tried in turn for a caller that rejects 200; wrongStatus matches its errors.
var (
	statuses    = []int{0, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}
	wrongStatus = lazyregexp.New(`(?i)\b(?:status(?: code)?|HTTP)[ :=(]{1,3}20[0124]\b|\bunexpected (?:response|status|code)[^.\n]{0,20}\b20[0124]\b`)
)

// noXML matches errors of XML parsers (expat, libxml2, sax, encoding/xml) on other input.
var noXML = lazyregexp.New(`(?i)not well-formed \(invalid token\)|no element found: line|syntax error: line \d+, column 0|start tag expected, '<' not found|` +
	`non-whitespace before first tag|document is empty, line|XML syntax error on line|invalid XML\b|(?:parse|parsing|read) (?:the )?XML\b|expected XML\b`)

// learned returns the answer to a request with body sent, in the form its caller reads.
func (t *conversation) learned(r *http.Request, sent []byte) content {
	text, known := t.json(r, sent)
	switch {
	case known.file != "":
		file, _ := download("", "."+known.file, nil)
		return file
	case known.xml:
		return asFeed
	}
	return content{kind: asJSON.kind, body: text, status: known.status}
}

// json returns the answer in JSON and its shape.
func (t *conversation) json(r *http.Request, sent []byte) (answer string, known shape) {
	kind := append([]string{r.Method, r.Host}, t.server.answers.kind(r.URL.Path)...)
	url := "https://" + r.Host + r.URL.Path
	a := asked{url: url[:min(len(url), maxString)], sent: sent}
	if query, text := graphQL(r, sent); query != nil {
		kind = append(kind, text)
		a.document = func() any { return answerGraphQL(query, a.url) }
	} else if document(r, sent) != nil {
		a.document, a.known = func() any { return document(r, sent) }, true
	}
	s := t.server.answers.shape(hash(kind...), hash(r.Method, r.Host, r.URL.RequestURI(), string(sent)))
	a.reads = s.reads
	reply := a.reply(s.form, s.fields)
	if a.document == nil && !slices.ContainsFunc(s.fields, func(f field) bool { return f.literal != "" }) {
		finish(reply, s.finished)
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return bodyJSON, s // no value of reply does that
	}
	return string(text) + "\n", s
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
