package transport

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// body returns a response of status 200.
func body(media, text string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(text), text)
}

// TestHostileResponses: each only ends the request, with an error text.
func TestHostileResponses(t *testing.T) {
	for name, tc := range map[string]struct {
		response string
		want     []string
	}{
		"nothing":         {"", []string{"failed 1: the server closed the connection without a response"}},
		"no HTTP":         {"SSH-2.0-OpenSSH_9.2\r\n", []string{"failed 1: the server's response is no HTTP"}},
		"half a header":   {"HTTP/1.1 200 OK\r\nContent-", []string{"failed 1: the server's response is no HTTP"}},
		"long header":     {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), []string{"failed 1: the header of the server's response is longer than 64 KiB"}},
		"many headers":    {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<17), []string{"failed 1: the header of the server's response is longer than 64 KiB"}},
		"informational":   {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100), []string{"failed 1: the server sent 8 informational responses"}},
		"after one":       {"HTTP/1.1 100 Continue\r\n\r\n" + body(mediaJSON, answer), []string{"message " + answer}},
		"no media type":   {body("", answer), []string{"message " + answer}},
		"charset":         {body("application/json; charset=utf-8", answer), []string{"message " + answer}},
		"HTML":            {body("text/html", "<p>Hi"), []string{"message <p>Hi", `failed 1: the server answered with content of type "text/html"`}},
		"no media":        {body("a/b/c; =", "x"), []string{"message x", "failed 1: the server answered with content of type"}},
		"no JSON":         {body(mediaJSON, "{"), []string{"message {", `failed 1: the body of the server's answer is no response to the request: "{"`}},
		"empty":           {body(mediaJSON, ""), []string{"message ", "failed 1: the body of the server's answer is no response"}},
		"other id":        {body(mediaJSON, strings.Replace(answer, "1", "9", 1)), []string{`"id":9`, "failed 1: the body of the server's answer is no response"}},
		"cut off":         {strings.TrimSuffix(body(mediaJSON, answer), "}"), []string{"failed 1: the server's answer was cut off"}},
		"bad chunks":      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", []string{"failed 1: the server's answer was cut off"}},
		"compressed":      {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxxx", []string{`failed 1: the server compressed its answer unasked, by "gzip"`}},
		"no answer":       {"HTTP/1.1 202 Accepted\r\n\r\n", []string{"message ", "failed 1: the body of the server's answer is no response"}},
		"long body":       {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + strings.Repeat("x", MaxMessage+1), []string{"too long", "failed 1"}},
		"long event":      {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + strings.Repeat("x", MaxMessage+100) + "\n\n", []string{"too long", "failed 1"}},
		"other event":     {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: ping\ndata: x\n\n", []string{"failed 1: the server ended the stream of events"}},
		"session id":      {"HTTP/1.1 200 OK\r\nMcp-Session-Id: a b\r\n\r\n", []string{`failed 1: the server's session id is not visible ASCII: "a b"`}},
		"long session id": {"HTTP/1.1 200 OK\r\nMcp-Session-Id: " + strings.Repeat("a", maxSession+1) + "\r\n\r\n", []string{"failed 1: the server's session id is longer than 4 KiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, told := post(t, raw(t, tc.response))
			send(t, s, Message{ID: "1", Method: "initialize"})
			for _, want := range tc.want {
				told.next(t, want)
			}
		})
	}
}

// TestEndlessEvents: an endless stream is ended.
func TestEndlessEvents(t *testing.T) {
	s, told := post(t, raw(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+strings.Repeat("event: x\ndata: y\n\n", maxEvents+1)))
	send(t, s, ask("1"))
	told.next(t, "failed 1: the stream has more than 100000 events")
}

// FuzzResponse: whatever comes, the request ends once, and the error text is bounded.
func FuzzResponse(f *testing.F) {
	for _, media := range []string{mediaJSON, mediaEvents, "text/plain"} {
		f.Add([]byte(body(media, answer)))
		f.Add([]byte(body(media, "data: "+answer+"\n\n")))
	}
	f.Add([]byte("HTTP/1.1 404 Not Found\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, told := post(t, raw(t, string(bytes.Clone(in))))
		s.Agree("2026-07-28") // this revision does not resume streams
		send(t, s, ask("1"))
		defer s.Abort()
		deadline := time.After(poll.Patience)
		for {
			select {
			case said := <-told:
				if strings.HasPrefix(said, "failed 1") || strings.HasPrefix(said, "refused 1") {
					if len(said) > 4*MaxSample+len(in) {
						t.Fatalf("%d bytes: %s", len(said), said)
					}
					return
				}
				if strings.HasPrefix(said, "message ") && answers([]byte(strings.TrimPrefix(said, "message "))) == "1" {
					return
				}
			case <-deadline:
				t.Fatal("the request does not end")
			}
		}
	})
}

// TestTap: bytes outside of messages are shown, to the end.
func TestTap(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nX-Secret: 1\r\nContent-Type: " + mediaEvents + "\r\n\r\n"
	wire := head + ": secret 2\nid: secret-3\nevent: secret-4\n\nsecret: 5\ndata: " + answer + "\n\ndata: unfinished"
	endpoint, told, shown := raw(t, wire), make(chan int64, 10), make(chan string, 1)
	var text []byte
	endpoint.Tap = func(conn int, piece []byte, end int64) {
		if text = append(text, piece...); conn != 1 || end != int64(len(text)) {
			t.Errorf("connection %d, at %d after %d bytes", conn, end, len(text))
		}
		if len(piece) == 0 {
			shown <- string(text)
		}
	}
	s := StreamableHTTP(endpoint, ends(told))
	t.Cleanup(s.Abort)
	send(t, s, ask("1"))
	if got := <-shown; got != wire {
		t.Errorf("%q", got)
	}
}

// TestBytesAfterTheAnswer: bytes after an answer count as well, so a server cannot make
// its actions during one request look as if they were during another.
func TestBytesAfterTheAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	const junk = 100_000
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = c.Read(make([]byte, 64<<10))
				_, _ = c.Write([]byte(body(mediaJSON, answer)))
				_, _ = io.Copy(io.Discard, c) // until we have nothing more to say
				_, _ = c.Write(make([]byte, junk))
				_ = c.Close()
			}()
		}
	}()
	told := make(chan int64, 10)
	s := StreamableHTTP(Endpoint{URL: "http://" + listener.Addr().String()}, ends(told))
	t.Cleanup(s.Abort)
	size := int64(len(body(mediaJSON, answer)))
	for n := range int64(3) {
		send(t, s, ask("1"))
		if got := <-told; got < size*(n+1) {
			t.Errorf("%d bytes had come with answer %d", got, n)
		}
		c := s.(*streamable).client
		poll.Until(t, "the junk is counted", func() bool { return c.received.Load() == (size+junk)*(n+1) })
	}
}
