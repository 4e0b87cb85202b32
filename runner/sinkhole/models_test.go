package sinkhole

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStreams: a client that asks for a stream of events gets one, with the last event of its service; any other gets JSON.
func TestStreams(t *testing.T) {
	const chat = `{"model":"a","messages":[],"stream":true}`
	for _, tc := range []struct {
		path, accept, body string
		ends               string // of the answer's last event but for its end; "" for JSON
	}{
		{path: "/v1/chat/completions", body: chat, ends: `"finish_reason":"stop"`},
		{path: "/v1/messages", body: chat, ends: `"type":"message_stop"`},
		{path: "/v1/responses", body: `{"input":"a","stream":true}`, ends: `"type":"response.completed"`},
		{path: "/v1/agent", accept: "text/event-stream", body: `{"input":"a"}`, ends: `"type":"response.completed"`},
		{path: "/v1beta/models/a:streamGenerateContent?alt=sse", body: `{"contents":[]}`, ends: `"candidates":[`},
		{path: "/events", accept: "text/event-stream", ends: `"ok":true`},
		{path: "/api/chat", body: chat},
		{path: "/v1/chat/completions", body: `{"model":"a","messages":[],"stream":false}`},
		{path: "/mcp", accept: "application/json, text/event-stream", body: `{}`},
	} {
		r := httptest.NewRequest(http.MethodPost, "https://models.example"+tc.path, nil)
		r.Header.Set("Accept", tc.accept)
		got := newAsker().content(r, []byte(tc.body))
		streamed := strings.HasPrefix(got.kind, "text/event-stream")
		events := strings.Split(strings.TrimSuffix(strings.TrimSuffix(got.body, "data: [DONE]\n\n"), "\n\n"), "\n\n")
		if last := events[len(events)-1]; streamed != (tc.ends != "") || streamed && (!strings.Contains(last, "data: {") || !strings.Contains(last, tc.ends)) {
			t.Errorf("%s: %s in %s", tc.path, got.kind, got.body)
		}
	}
}
