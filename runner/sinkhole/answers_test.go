package sinkhole

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/sources"
)

// asker asks answers for JSON and tells of calls.
type asker struct{ *conversation }

func newAsker() asker { return asker{&conversation{server: &Server{answers: newAnswers()}}} }

func (a asker) ask(path, body string) string {
	return a.learned(&http.Request{Method: http.MethodPost, Host: "api.example", URL: &url.URL{Path: path}}, []byte(body)).body
}

// during asks in a call that is refused with a text, or accepted.
func (a asker) during(path, refusal string) string {
	a.server.Call(Call{})
	answer := a.ask(path, "")
	a.server.Call(Call{Ended: true, Refusal: refusal})
	return answer
}

func TestAnswerEchoes(t *testing.T) {
	answer := newAsker().ask("/v1/notes", `{"name":"milk","password":"hidden","total":7}`)
	if !strings.Contains(answer, `"name":"milk"`) || strings.Contains(answer, "hidden") || !strings.Contains(answer, `"total":0`) {
		t.Errorf("what was created is %s", answer)
	}
}

// Who fails to read JSON as XML gets XML, and only for what it asked for then.
func TestAnswersXML(t *testing.T) {
	for _, refusal := range []string{
		"Error: not well-formed (invalid token): line 1, column 0", "XML syntax error on line 1: unexpected EOF",
		"Error: Non-whitespace before first tag. Line: 0", "Start tag expected, '<' not found, line 1, column 1 (<string>, line 1)",
	} {
		a := newAsker()
		a.during("/api/query", refusal)
		if answer := a.during("/api/query", ""); answer != bodyFeed {
			t.Errorf("after %q the answer is %s", refusal, answer)
		}
		if answer := a.during("/api/other", ""); answer == bodyFeed {
			t.Errorf("after %q another answer is XML", refusal)
		}
	}
	a := newAsker()
	a.during("/api/query", "No notes found in the XML document")
	if answer := a.during("/api/query", ""); answer == bodyFeed {
		t.Error("XML for a refusal that is no parser's")
	}
}

// Who wants another status gets one after the other, for what it asked for then.
func TestAnswersStatus(t *testing.T) {
	a := newAsker()
	status := func(path, refusal string) int {
		a.server.Call(Call{})
		got := a.learned(&http.Request{Method: http.MethodPost, Host: "api.example", URL: &url.URL{Path: path}}, nil).status
		a.server.Call(Call{Ended: true, Refusal: refusal})
		return got
	}
	for i, refusal := range []string{"[POST /v1/notes] PostNotes (status 200): {}", "unexpected status code: 201", "HTTP 202", "status 204", ""} {
		if got, want := status("/v1/notes", refusal), statuses[min(i, len(statuses)-1)]; got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
	}
	if got := status("/v1/others", "the status is open, 200 of them"); got != 0 || status("/v1/others", "") != 0 {
		t.Errorf("status %d of another answer", got)
	}
}

// Whoever asks whether there is a connection gets what is known to say so.
func TestAnswersOnline(t *testing.T) {
	a := newAsker()
	for path, want := range map[string]content{
		"/generate_204": {kind: "text/plain", status: http.StatusNoContent}, "/connecttest.txt": {kind: "text/plain", body: "Microsoft Connect Test"},
		"/robots.txt": {kind: "text/plain", body: "Not found.\n", status: http.StatusNotFound},
	} {
		if got := a.content(&http.Request{Method: http.MethodGet, Host: "www.example", URL: &url.URL{Path: path}}, nil); got != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// TestAnswersAddress: a host that tells callers their address tells nothing else, unless it is asked for JSON.
func TestAnswersAddress(t *testing.T) {
	a := newAsker()
	for query, want := range map[string]bool{"": true, "format=json": false} {
		got := a.content(&http.Request{Method: http.MethodGet, Host: "api.ipify.org", URL: &url.URL{Path: "/", RawQuery: query}}, nil)
		if _, err := netip.ParseAddr(strings.TrimSpace(got.body)); (err == nil) != want {
			t.Errorf("%q: %q", query, got.body)
		}
	}
}

// What is refused without a reason is answered in every form in turn, and what is
// accepted in the same again.
func TestAnswersTurn(t *testing.T) {
	a, seen := newAsker(), map[string]bool{}
	first := a.during("/v1/notes/1", "")
	if a.during("/v1/notes/1", "") != first {
		t.Error("the answer to an accepted call changes")
	}
	for range formsUnread {
		seen[a.during("/v1/notes/1", "No notes")] = true
	}
	if len(seen) != len(formsUnread) {
		t.Errorf("%d different answers", len(seen))
	}
}

// A refusal that says nothing of the answer is followed by one of the fields that the
// server's code reads; accepted answers stay.
func TestAnswersRead(t *testing.T) {
	a := newAsker()
	before := a.during("/v1/shops/1", "")
	a.server.Call(Call{})
	a.ask("/v1/notes/1", "")
	reads := sources.Fields{
		"": {Within: []string{"status", "results", "next_page_token"}}, "status": {Literal: `"OK"`},
		"results": {Kind: "array", Within: []string{"place"}}, "place": {Kind: "object", Within: []string{"lat"}},
	}
	a.server.Call(Call{Ended: true, Refusal: "No notes", Reads: reads})
	var note struct {
		Status  string
		Results []struct{ Place struct{ Lat float64 } }
		Next    *string `json:"next_page_token"`
	}
	answer := a.during("/v1/notes/2", "")
	if err := json.Unmarshal([]byte(answer), &note); err != nil || note.Status != "OK" || len(note.Results) != 1 || note.Results[0].Place.Lat != 1 || note.Next != nil {
		t.Errorf("%v: %s", err, answer)
	}
	if a.during("/v1/shops/1", "") != before {
		t.Error("what was accepted has changed")
	}
}

// However much code reads, an answer has room for so much of it.
func TestReadableIsBounded(t *testing.T) {
	reads := sources.Fields{}
	for i := range 500 {
		name := fmt.Sprintf("list%d", i)
		reads[""] = sources.Field{Within: append(reads[""].Within, name)}
		reads[name] = sources.Field{Kind: "array"}
	}
	text, err := json.Marshal(readable(reads, "https://api.example/", nil))
	if err != nil || len(text) > 64*maxReadable {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// What code says that an element holds is there however much lists could hold besides.
func TestReadableHasFirstWhatIsSaid(t *testing.T) {
	reads := sources.Fields{"clips": {Kind: "object", Within: []string{"found"}}, "found": {Kind: "array", Within: []string{"video"}}, "video": {Kind: "object", Within: []string{"length"}}}
	all := []string{}
	for i := range 200 {
		name := fmt.Sprintf("list%d", i)
		all, reads[name] = append(all, name), sources.Field{Kind: "array"}
	}
	reads[""] = sources.Field{Within: append(all, "clips", "found", "video", "length")}
	text, err := json.Marshal(readable(reads, "https://api.example/", nil))
	if err != nil {
		t.Fatal(err)
	}
	var note struct {
		Clips struct {
			Found []struct{ Video struct{ Length *any } }
		}
	}
	if err := json.Unmarshal(text, &note); err != nil || len(note.Clips.Found) != 1 || note.Clips.Found[0].Video.Length == nil {
		t.Errorf("%v: %.400s", err, text)
	}
}

// A refusal that names what was missing has it added, for all requests of that kind and
// no other.
func TestAnswersLearn(t *testing.T) {
	a := newAsker()
	before := a.during("/v1/shops/1", "")
	a.during("/v1/notes/1", `[{"code":"invalid_type","expected":"number","path":["owner","age"]}]`)
	var note struct {
		Owner struct{ Age *float64 }
	}
	if err := json.Unmarshal([]byte(a.during("/v1/notes/2", "")), &note); err != nil || note.Owner.Age == nil {
		t.Errorf("the age is %v, %v", note.Owner.Age, err)
	}
	if a.during("/v1/shops/1", "") != before {
		t.Error("another kind has changed")
	}
}

// Refusals of calls that asked for nothing say nothing about answers, and what was asked
// outside of calls never changes: a list of tools may come from there.
func TestAnswersStay(t *testing.T) {
	a := newAsker()
	listed := a.ask("/v1/tools", "")
	called := a.during("/v1/notes/1", "")
	a.server.Call(Call{})
	a.server.Call(Call{Ended: true, Refusal: "KeyError: 'fresh'"})
	if a.during("/v1/notes/1", "") != called {
		t.Error("an answer changes by a refusal that it had no part in")
	}
	if a.during("/v1/tools", "KeyError: 'fresh'") != listed || a.ask("/v1/tools", "") != listed {
		t.Error("what the server may advertise changes")
	}
}

// A refusal that comes again although the field is there speaks of a part of the answer.
func TestAnswersLearnElsewhere(t *testing.T) {
	a := newAsker()
	const refusal = `[{"code":"invalid_type","expected":"string","path":["colour"]}]`
	a.during("/v1/notes/1", refusal)
	a.during("/v1/notes/1", refusal)
	var note struct{ Items []struct{ Colour *string } }
	if err := json.Unmarshal([]byte(a.during("/v1/notes/1", "")), &note); err != nil || len(note.Items) == 0 || note.Items[0].Colour == nil {
		t.Errorf("the items are %+v, %v", note.Items, err)
	}
}

// A list that is still missed where it is there is the whole answer: "data" is what the caller calls that.
func TestAnswersAreLists(t *testing.T) {
	a := newAsker()
	for range 3 {
		a.during("/v1/keys", "e.data?.filter is not a function")
	}
	if answer := a.during("/v1/keys", ""); !strings.HasPrefix(answer, "[") {
		t.Errorf("the answer is %s", answer)
	}
}

// What is known of an object holds when the answer turns out not to be a list after all.
func TestAnswersTurnBack(t *testing.T) {
	a := newAsker()
	a.during("/v1/notes/1", "KeyError: 'colour'")
	a.during("/v1/notes/1", "list indices must be integers or slices, not str")
	for range forms {
		if answer := a.during("/v1/notes/1", "No notes"); !strings.HasPrefix(answer, "{") || !strings.Contains(answer, `"colour"`) {
			t.Errorf("the answer is %s", answer)
		}
	}
}

// However much a server claims to miss, the answer stays small.
func TestAnswersStaySmall(t *testing.T) {
	a := newAsker()
	for i := range 2 * maxPerKind {
		a.during("/v1/notes/1", fmt.Sprintf("TypeError: all.list%d.map is not a function", i))
		a.during("/v1/notes/1", fmt.Sprintf(`[{"code":"x","expected":"string","path":["a%d","b","c","d","e","f","g","h"]}]`, i))
	}
	if size := len(a.during("/v1/notes/1", "")); size > 1<<18 {
		t.Errorf("the answer has %d bytes", size)
	}
}

func FuzzReply(f *testing.F) {
	f.Add(0, []byte(`{"name":"milk","data":{"a":1},"id":null}`))
	f.Add(2, []byte(`[{"name":"\ud800"}]`))
	f.Add(3, []byte(`{"name":"`+strings.Repeat("x", 2*maxString)+`"}`))
	f.Fuzz(func(t *testing.T, form int, sent []byte) {
		text, err := json.Marshal(asked{url: "https://api.example/", sent: sent}.reply(form, nil))
		if err != nil || len(text) > 128*maxString {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}
