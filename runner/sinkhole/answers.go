package sinkhole

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// The bounds of what an answer is made from: of a request's body in bytes, of the
// strings that come back from it, and of the requests that are remembered.
const (
	maxEchoed   = 64 << 10
	maxString   = 1 << 10
	maxRequests = 4096
)

// The forms of JSON answers, in the order in which they are tried: clients read lists
// and objects, numbers and strings, and say nowhere which.
const (
	formObject = iota // of strings, with empty lists
	formList          // empty
	formNested        // an object of numbers, with objects within
	formLists         // a list of such an object
	forms
)

// answers chooses the form of each JSON answer. The same request has the same answer
// every time, so that a server which loads what it advertises looks the same when it
// is listed again; another of the same kind has the next form.
type answers struct {
	mu sync.Mutex
	// kinds counts the different requests of each kind; seen has the form of each
	// request.
	kinds, seen map[uint64]int
}

func newAnswers() *answers {
	return &answers{kinds: map[uint64]int{}, seen: map[uint64]int{}}
}

// form returns that of the answer to a request of a kind, both as hashes.
func (a *answers) form(kind, request uint64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	form, known := a.seen[request]
	switch {
	case known:
		return form
	case len(a.seen) >= maxRequests:
		return formObject
	}
	form = a.kinds[kind] % forms
	a.kinds[kind]++
	a.seen[request] = form
	return form
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
			kind = append(kind, "*")
		}
	}
	form := t.server.answers.form(hash(kind...), hash(r.Method, r.Host, r.URL.RequestURI(), string(sent)))
	url := "https://" + r.Host + r.URL.Path
	text, err := json.Marshal(reply(form, url[:min(len(url), maxString)], sent))
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

// reply is an answer of a form, with what it says of the same fields that the request
// sent: who creates a thing reads it back.
func reply(form int, url string, sent []byte) any {
	switch form {
	case formList:
		return []any{}
	case formNested:
		return nested(url, sent)
	case formLists:
		return []any{nested(url, sent)}
	default:
		return object(url, sent)
	}
}

// moment is when everything in the answers happened.
const moment = "2024-01-01T00:00:00Z"

// object is what APIs say of a thing, and the names that they have for lists.
func object(url string, sent []byte) map[string]any {
	o := map[string]any{
		"id": "1", "status": "ok", "ok": true, "success": true, "name": "note", "title": "note", "key": "note", "type": "note",
		"description": "note", "text": "note", "content": "note", "message": "ok", "path": "note", "state": "open",
		"url": url, "html_url": url, "web_url": url, "created_at": moment, "updated_at": moment,
		"total": 0, "total_count": 0, "count": 0, "size": 0, "has_more": false,
	}
	for _, list := range []string{"data", "items", "results", "records", "values", "entries", "list", "errors", "hits", "rows"} {
		o[list] = []any{}
	}
	echo(o, sent)
	return o
}

// nested is an object whose numbers are numbers and whose fields are objects.
func nested(url string, sent []byte) map[string]any {
	o := object(url, sent)
	delete(o, "errors")
	maps.Copy(o, map[string]any{
		"id": 1, "number": 1, "status": "OK", "done": true, "completed": true,
		"data": object(url, nil), "result": object(url, nil), "response": object(url, nil), "user": object(url, nil),
	})
	return o
}

// echo sets the fields of an object that the body has too, of the same type.
func echo(o map[string]any, sent []byte) {
	var body map[string]any
	if json.Unmarshal(sent, &body) != nil {
		return
	}
	for name, value := range body {
		text, isText := value.(string)
		if _, known := o[name].(string); known && isText && len(text) <= maxString {
			o[name] = text
		}
	}
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), maxEchoed-l.Len())]) // never fails
	return len(p), nil
}
