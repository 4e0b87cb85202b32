package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`

func reply(w http.ResponseWriter, media string, status int, body string) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// TestSession: how a session with all features looks to the server, and that each
// byte is counted.
func TestSession(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	url, counts := listen(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, fmt.Sprintf("%s %s|%s|%s|%s|%s|%s", r.Method, body, r.Header.Get("Accept"), r.Header.Get("Mcp-Session-Id"),
			r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Authorization"), r.Header.Get("User-Agent")))
		mu.Unlock()
		switch {
		case r.Method == http.MethodGet:
			reply(w, mediaEvents, http.StatusOK, "data: {\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case strings.Contains(string(body), "notifications"):
			w.WriteHeader(http.StatusAccepted)
		case strings.Contains(string(body), "initialize"):
			w.Header().Set("Mcp-Session-Id", "s-1")
			reply(w, mediaJSON, http.StatusOK, answer)
		default:
			reply(w, mediaEvents, http.StatusOK, ": hi\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n\nevent: message\ndata: "+
				strings.Replace(answer, "1", "2", 1)+"\n\n")
		}
	})
	s, told := post(t, Endpoint{URL: url + "/mcp", Header: http.Header{"Authorization": {"Bearer x"}}})
	_, end := send(t, s, Message{ID: "1", Method: "initialize"})
	told.next(t, answer)
	s.Agree("2025-06-18")
	start, end2 := send(t, s, Message{Method: "notifications/initialized"})
	if start != end {
		t.Errorf("the second message starts at %d, the first ended at %d", start, end)
	}
	s.Listen(t.Context())
	told.next(t, "hello")
	start, end = send(t, s, ask("2"))
	if start <= end2 {
		t.Errorf("the request for a stream is not counted: %d after %d", start, end2)
	}
	told.next(t, "note")
	told.next(t, `"id":2`)
	poll.Until(t, "the server has read what was sent", func() bool { return counts.read.Load() == end })
	s.Close()
	<-s.Ended()
	s.Abort()
	mu.Lock()
	defer mu.Unlock()
	const both = "application/json, text/event-stream"
	want := []string{
		`POST {"jsonrpc":"2.0","method":"initialize"}|` + both + `|||Bearer x|tester/1`,
		`POST {"jsonrpc":"2.0","method":"notifications/initialized"}|` + both + `|s-1|2025-06-18|Bearer x|tester/1`,
		`GET |text/event-stream|s-1|2025-06-18|Bearer x|tester/1`,
		`POST {"jsonrpc":"2.0","method":"tools/list"}|` + both + `|s-1|2025-06-18|Bearer x|tester/1`,
		`DELETE |` + both + `|s-1|2025-06-18|Bearer x|tester/1`,
	}
	if strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server was asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

// TestReceivedIsWhatWasWritten: an answer has the number of bytes that the server had written by then.
func TestReceivedIsWhatWasWritten(t *testing.T) {
	url, counts := listen(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, mediaJSON, http.StatusOK, answer) })
	told := make(chan int64, 10)
	s := StreamableHTTP(Endpoint{URL: url}, ends(told))
	t.Cleanup(s.Abort)
	for range 3 {
		send(t, s, ask("1"))
		got := <-told
		poll.Until(t, "as many bytes have come as were written", func() bool { return counts.written.Load() == got })
	}
}

// ends is a handler that records the positions of messages.
type ends chan int64

func (e ends) Receive(l Line)              { e <- l.End }
func (e ends) See(Line)                    {}
func (e ends) Fail(string, *Error)         {}
func (e ends) Refuse(string, Line, *Error) {}

// TestStateless: the requirements of the revision without sessions.
func TestStateless(t *testing.T) {
	asked := make(chan string, 10)
	url, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- strings.Join([]string{r.Method, r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"), r.Header.Get("Mcp-Param-Region"),
			r.Header.Get("Mcp-Session-Id"), r.Header.Get("Mcp-Protocol-Version")}, "|")
		w.Header().Set("Mcp-Session-Id", "unasked")
		reply(w, mediaJSON, http.StatusOK, answer)
	})
	s, told := post(t, Endpoint{URL: url})
	s.Agree("2026-07-28")
	s.Listen(t.Context())
	for range 2 {
		send(t, s, Message{ID: "1", Method: "tools/call", Name: "grüßen", Header: http.Header{"Mcp-Param-Region": {"west"}}})
		told.next(t, answer)
		if got := <-asked; got != "POST|tools/call|=?base64?Z3LDvMOfZW4=?=|west||2026-07-28" {
			t.Errorf("asked %q", got)
		}
	}
	s.Close()
	<-s.Ended()
	if len(asked) != 0 {
		t.Errorf("asked %q, too", <-asked)
	}
}

// TestResumption: a stream that ends before its answer is resumed.
func TestResumption(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		first   string
		status  int
		want    string
	}{
		"resumed":       {"2025-11-25", "id: e1\nretry: 1\ndata:\n\n", http.StatusOK, answer},
		"no event id":   {"2025-11-25", ": hello\n\n", http.StatusOK, "failed 1: the server ended the stream of events before its answer"},
		"refused":       {"2025-11-25", "id: e1\nretry: 1\ndata:\n\n", http.StatusBadRequest, "does not go on with it (HTTP 400)"},
		"not stateless": {"2026-07-28", "id: e1\nretry: 1\ndata:\n\n", http.StatusOK, "failed 1: the server ended the stream of events"},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			url, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					reply(w, mediaEvents, http.StatusOK, tc.first)
				case r.Header.Get("Last-Event-Id") != fmt.Sprintf("e%d", tries+1):
					t.Errorf("taken up after %q", r.Header.Get("Last-Event-Id"))
				case tries < 2:
					tries++
					reply(w, mediaEvents, tc.status, fmt.Sprintf("id: e%d\ndata:\n\n", tries+1))
				default: // with a repeated answer, which does not count again
					reply(w, mediaEvents, tc.status, "data: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":1}\n\ndata: "+answer+"\n\n")
				}
			})
			s, told := post(t, Endpoint{URL: url})
			s.Agree(tc.version)
			send(t, s, ask("1"))
			told.next(t, tc.want)
		})
	}
}

// TestStatus: responses that are no success.
func TestStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		header string // a location
		want   string
	}{
		"error":       {500, "<h1>Oops</h1>", "", `refused 1 by 500 (gone false): HTTP 500 from the server: "<h1>Oops</h1>"; <h1>Oops</h1>`},
		"json-rpc":    {400, `{"jsonrpc":"2.0","error":{}}`, "", `; {"jsonrpc":"2.0","error":{}}`},
		"no body":     {401, "", "", "refused 1 by 401 (gone false): HTTP 401 from the server; "},
		"no session":  {404, "", "", "refused 1 by 404 (gone false): HTTP 404 from the server; "},
		"elsewhere":   {307, "", "http://evil.test/", `HTTP 307 from the server, which points to "http://evil.test/"`},
		"not changed": {304, "", "", "refused 1 by 304"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := listen(t, func(w http.ResponseWriter, _ *http.Request) {
				if tc.header != "" {
					w.Header().Set("Location", tc.header)
				}
				reply(w, "text/html", tc.status, tc.body)
			})
			s, told := post(t, Endpoint{URL: url})
			send(t, s, ask("1"))
			told.next(t, tc.want)
		})
	}
}

func TestSessionThatHasEnded(t *testing.T) {
	url, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" {
			reply(w, mediaJSON, http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
			return
		}
		w.Header().Set("Mcp-Session-Id", "s-1")
		reply(w, mediaJSON, http.StatusOK, answer)
	})
	s, told := post(t, Endpoint{URL: url})
	send(t, s, Message{ID: "1", Method: "initialize"})
	told.next(t, answer)
	send(t, s, ask("2"))
	told.next(t, "refused 2 by 404 (gone true): the server has ended the session")
}

// TestHungRequests: a cancelled request is given up, and one that is written but not
// answered ends with the session.
func TestHungRequests(t *testing.T) {
	left := make(chan string, 2)
	url, _ := listen(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		<-r.Context().Done()
		left <- string(body)
	})
	s, _ := post(t, Endpoint{URL: url})
	send(t, s, Message{ID: "1", Text: []byte("one")})
	send(t, s, Message{ID: "2", Text: []byte("two")})
	c := s.(*streamable).client
	poll.Until(t, "the requests are under way", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.live["1"] != nil && c.live["2"] != nil
	})
	s.Cancel("1")
	if got := <-left; got != "one" {
		t.Errorf("%q was given up", got)
	}
	s.Abort()
	<-left
	poll.Until(t, "no connection is open", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.open) == 0
	})
	if _, _, err := s.Send(ask("3")); !errors.Is(err, ErrBacklog) {
		t.Errorf("sent after the end: %v", err)
	}
}

// TestUnreachable: a server that cannot be reached, or accepts no connection, does not block senders.
func TestUnreachable(t *testing.T) {
	s, told := post(t, Endpoint{URL: "http://server/", Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("refused") }})
	start, _ := send(t, s, ask("1"))
	told.next(t, "failed 1: connect to the server: refused")
	if again, _ := send(t, s, ask("2")); again != start {
		t.Errorf("what was never sent is counted: %d", again)
	}
	s, _ = post(t, Endpoint{URL: "http://server/", Dial: func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }})
	long := []byte(strings.Repeat("x", 1<<20))
	sent := int64(0)
	for range maxBacklog {
		_, end, err := s.Send(Message{Text: long})
		if err != nil {
			break
		}
		sent = end
	}
	if sent > maxBacklogBytes+2<<20 {
		t.Errorf("%d MiB wait", sent>>20)
	}
}

func TestBadURL(t *testing.T) {
	for _, url := range []string{"", "ftp://x/", "http:///mcp", "http://[", "/mcp"} {
		for _, s := range []Transport{StreamableHTTP(Endpoint{URL: url}, make(recorder, 10)), SSE(Endpoint{URL: url}, make(recorder, 10))} {
			if err := s.Open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "is not of the form") {
				t.Errorf("%q: %v", url, err)
			}
			s.Close()
			s.Abort()
			<-s.Ended()
		}
	}
}

// TestListenIsBounded: the wait for an answer about the server's stream is bounded.
func TestListenIsBounded(t *testing.T) {
	url, _ := listen(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s, _ := post(t, Endpoint{URL: url})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	s.Listen(ctx)
}

// TestAsidesAreSmall: only small parts of responses that are no answers are held.
func TestAsidesAreSmall(t *testing.T) {
	s, told := post(t, raw(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: "+strings.Repeat("x", maxAside+1)+"\n\ndata: y\n\n"))
	send(t, s, Message{Method: "notifications/cancelled"})
	told.next(t, "message y")
}
