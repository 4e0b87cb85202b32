package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// old serves HTTP+SSE. Its stream begins with an event, and continues with the texts
// from lines.
func old(t *testing.T, begin string, lines <-chan string, status int) (url string, posted chan string) {
	t.Helper()
	posted = make(chan string, 10)
	url, _ = listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			posted <- r.URL.String() + " " + string(text)
			w.WriteHeader(status)
			return
		}
		reply(w, mediaEvents, http.StatusOK, begin)
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case line, more := <-lines:
				if !more {
					return
				}
				_, _ = io.WriteString(w, line)
			case <-r.Context().Done():
				return
			}
		}
	})
	return url + "/sse", posted
}

func openSSE(t *testing.T, url string) (Transport, recorder, error) {
	t.Helper()
	told := make(recorder, 100)
	s := SSE(Endpoint{URL: url}, told)
	t.Cleanup(s.Abort)
	return s, told, s.Open(t.Context(), "tester/1")
}

func TestSSE(t *testing.T) {
	lines := make(chan string)
	url, posted := old(t, "event: endpoint\ndata: /message?session=1\n\n", lines, http.StatusAccepted)
	s, told, err := openSSE(t, url)
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, ask("1"))
	if got := <-posted; got != `/message?session=1 {"jsonrpc":"2.0","method":"tools/list"}` {
		t.Errorf("posted %q", got)
	}
	lines <- "event: endpoint\ndata: http://evil.test/\n\n" // the first counts
	told.next(t, "failed 1: the server wants messages to be sent to another origin")
	<-s.Ended()
}

func TestSSEAnswers(t *testing.T) {
	lines := make(chan string)
	url, _ := old(t, ": hello\n\nevent: endpoint\ndata: message\n\n", lines, http.StatusAccepted)
	s, told, err := openSSE(t, url)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := send(t, s, ask("1"))
	lines <- "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n\nevent: ping\ndata: x\n\ndata: " + answer + "\n\n"
	told.next(t, "note")
	told.next(t, answer)
	if second, _ := send(t, s, ask("2")); first == 0 || second <= first {
		t.Errorf("the second request starts at %d, the first at %d", second, first)
	}
	close(lines) // and with them the stream
	told.next(t, "failed 2: the server ended its stream of events")
	<-s.Ended()
}

// TestSSERefused: no session without an address to send messages to.
func TestSSERefused(t *testing.T) {
	for name, tc := range map[string]struct{ begin, want string }{
		"another host":   {"event: endpoint\ndata: http://evil.test/message\n\n", `wants messages to be sent to another origin: "http://evil.test/message"`},
		"another port":   {"event: endpoint\ndata: //127.0.0.1:1/message\n\n", "another origin"},
		"another scheme": {"event: endpoint\ndata: https:/message\n\n", "another origin"},
		"a user":         {"event: endpoint\ndata: http://a@HOST/message\n\n", "another origin"},
		"no URL":         {"event: endpoint\ndata: http://[\n\n", "names no address for messages"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := old(t, tc.begin, nil, http.StatusAccepted)
			_, _, err := openSSE(t, url)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("opened: %v", err)
			}
		})
	}
	for name, tc := range map[string]struct{ response, want string }{
		"status":   {"HTTP/1.1 404 Not Found\r\n\r\n", "HTTP 404 from the server"},
		"type":     {body("text/html", "x"), `with content of type "text/html"`},
		"no event": {body(mediaEvents, ""), "the server ended its stream of events"},
		"no HTTP":  {"x", "no HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			s := SSE(raw(t, tc.response), make(recorder, 10))
			defer s.Abort()
			if err := s.Open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// TestSSESilence: the wait for a server that never names an address is bounded.
func TestSSESilence(t *testing.T) {
	url, _ := old(t, "", nil, http.StatusAccepted)
	s := SSE(Endpoint{URL: url}, make(recorder, 10))
	defer s.Abort()
	if _, _, err := s.Send(ask("1")); err == nil {
		t.Error("sent nowhere")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Open(ctx, ""); err == nil || ctx.Err() == nil {
		t.Errorf("opened: %v", err)
	}
}

func TestSSEPostRefused(t *testing.T) {
	url, _ := old(t, "event: endpoint\ndata: /m\n\n", nil, http.StatusBadRequest)
	s, told, err := openSSE(t, url)
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, ask("1"))
	told.next(t, fmt.Sprintf("refused 1 by %d", http.StatusBadRequest))
	s.Close()
	<-s.Ended()
}

func TestSameOrigin(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"http://localhost:8080/sse", "http://127.0.0.1:8080/message", true},
		{"http://localhost:8080/sse", "http://0.0.0.0:8080/message", true},
		{"http://localhost:8080/sse", "http://[::1]:8080/message", true},
		{"https://Example.com/sse", "https://example.com:443/message", true},
		{"http://localhost:8080/sse", "http://localhost:8081/message", false},
		{"http://localhost/sse", "http://localhost.evil.test/message", false},
		{"http://example.com/sse", "http://127.0.0.1/message", false},
		{"https://example.com/sse", "http://example.com:443/message", false},
	} {
		a, _ := url.Parse(tc.a)
		b, _ := url.Parse(tc.b)
		if got := sameOrigin(a, b); got != tc.same {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
}
