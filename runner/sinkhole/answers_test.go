package sinkhole

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAnswerForms: the same request has the same answer every time, and requests of a kind
// get every form.
func TestAnswerForms(t *testing.T) {
	c := &conversation{server: &Server{answers: newAnswers()}}
	ask := func(path, body string) string {
		r := &http.Request{Method: http.MethodPost, Host: "api.example", URL: &url.URL{Path: path}}
		return c.json(r, []byte(body))
	}
	first := ask("/v1/notes/c1", `{"name":"milk","password":"hidden","total":7}`)
	if ask("/v1/notes/c1", `{"name":"milk","password":"hidden","total":7}`) != first {
		t.Error("the second answer is another one")
	}
	if !strings.Contains(first, `"name":"milk"`) || strings.Contains(first, "hidden") || !strings.Contains(first, `"total":0`) {
		t.Errorf("what was created is %s", first)
	}
	seen := map[string]bool{}
	for call := range forms {
		answer := ask(fmt.Sprintf("/v1/notes/c%d", call+2), "")
		seen[answer[:min(8, len(answer))]] = true
	}
	if len(seen) < 3 { // two kinds of lists, and objects
		t.Errorf("the answers are %v", seen)
	}
}

func FuzzReply(f *testing.F) {
	f.Add(0, []byte(`{"name":"milk","data":{"a":1},"id":null}`))
	f.Add(2, []byte(`[{"name":"\ud800"}]`))
	f.Add(3, []byte(`{"name":"`+strings.Repeat("x", 2*maxString)+`"}`))
	f.Fuzz(func(t *testing.T, form int, sent []byte) {
		text, err := json.Marshal(reply(form, "https://api.example/", sent))
		if err != nil || len(text) > 128*maxString {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}
