package attack

import (
	"testing"
	"time"
)

// TestAskings: requests with a mark in their line, and lines of a header that begin with one; a
// line in a body is none.
func TestAskings(t *testing.T) {
	for name, tc := range map[string]struct {
		protocol, request, sent string
		targets, lines          int
	}{
		"a path":             {"http", "GET /a/marlow-c7 HTTP/1.1", "GET /a/marlow-c7 HTTP/1.1\r\nHost: x\r\n\r\n", 1, 0},
		"no mark":            {"http", "GET /a HTTP/1.1", "GET /a HTTP/1.1\r\n\r\n", 0, 0},
		"a line of a header": {"https", "GET / HTTP/1.1", "GET / HTTP/1.1\r\nX: a\r\nmarlow-c7: 1\r\n\r\n", 0, 1},
		"a line of a body":   {"http", "POST / HTTP/1.1", "POST / HTTP/1.1\r\nX: a\r\n\r\nmarlow-c7: 1\r\n", 0, 0},
		"a line of a mail":   {"smtp", "HELO x", "HELO x\r\nDATA\r\nSubject: a\r\nmarlow-c7: 1\r\n\r\nmarlow-c8: 1\r\n.\r\n", 0, 1},
		"folded":             {"smtp", "HELO x", "DATA\r\nSubject: a\r\n marlow-c7: 1\r\n\r\n", 0, 0},
		"another protocol":   {"redis", "*3", "*3\r\n$12\r\nmarlow-c7: 1\r\n", 0, 0},
	} {
		targets, lines := 0, 0
		for _, each := range Askings(tc.protocol, tc.request, []byte(tc.sent), time.Time{}) {
			if each.Line != "" {
				lines++
			} else {
				targets++
			}
		}
		if targets != tc.targets || lines != tc.lines {
			t.Errorf("%s: %d targets, %d lines", name, targets, lines)
		}
	}
}

// TestAskingsInBodies: a mark that became a member of JSON, or a parameter of a form.
func TestAskingsInBodies(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, body string
		want       bool
	}{
		"a member":       {"application/json", `{"role":"guest","title":"x","marlow-c7":"1"}`, true},
		"in a list":      {"application/json", `{"all":[{"title":"x","marlow-c7":"1"}]}`, true},
		"a text":         {"application/json", `{"title":"x\",\"marlow-c7\":\"1"}`, false},
		"the whole":      {"application/json", `{"x\",\"marlow-c7\":\"1":"y"}`, false},
		"of another":     {"application/json", `{"marlow-c8":"1"}`, false},
		"of a form":      {"application/x-www-form-urlencoded", "title=x&marlow-c7=1", true},
		"within a field": {"application/x-www-form-urlencoded", "title=x%26marlow-c7%3D1", false},
	} {
		got := false
		for _, q := range (Sent{Target: "/a", Kind: tc.kind, Body: []byte(tc.body)}).Askings(time.Time{}) {
			got = got || q.Changes("marlow-c7", nil, "")
		}
		if got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestChanges: what is encoded stays in its part of the request.
func TestChanges(t *testing.T) {
	plain := []Asking{{Target: "/v1/jobs/marlow-c1/trace"}}
	for target, want := range map[string]bool{
		"/marlow-c7/trace":                        true,
		"/v1/jobs/x/../../../../marlow-c7/trace":  true,
		"/v1/jobs/%2e%2e/%2E%2E/marlow-c7/trace":  true,
		"/v1/jobs/..%2F..%2F..%2Fmarlow-c7/trace": false,
		"/v1/jobs/x/marlow-c7/trace":              false,
		"/v1/jobs/x?marlow-c7=1/trace":            true,
		"/v1/search?q=x&marlow-c7=1":              true,
		"/v1/search?q=x%26marlow-c7%3D1":          false,
		"/v1/search?q=x?marlow-c7=1":              false,
		"/v1/search?q=../../marlow-c7":            false,
		"/v1/jobs/x%3Fmarlow-c7%3D1/trace":        false,
	} {
		if got := (Asking{Target: target}).Changes("marlow-c7", plain, "marlow-c1"); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	if (Asking{Target: "/marlow-c7"}).Changes("marlow-c7", []Asking{{Target: "/marlow-c1"}}, "marlow-c1") {
		t.Error("there is nothing above the place")
	}
	if (Asking{Target: "/marlow-c7/trace"}).Changes("marlow-c7", nil, "") {
		t.Error("no plain value was seen in a path")
	}
}
