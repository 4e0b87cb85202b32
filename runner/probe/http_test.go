package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/pipes"
)

// overHTTP serves a fake by streamable HTTP: one JSON text, or with stream one
// stream of events, for each message. The lines that the fake writes by itself
// come before the answer.
func (f *fake) overHTTP(stream bool, on map[string]http.HandlerFunc) http.HandlerFunc {
	var out bytes.Buffer
	f.out = nopCloser{&out}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		text, _ := io.ReadAll(r.Body)
		var m map[string]any
		_ = json.Unmarshal(text, &m) // ours
		method, _ := m["method"].(string)
		f.mu.Lock()
		f.requests = append(f.requests, m)
		out.Reset()
		f.mu.Unlock()
		handle := f.on[method]
		switch {
		case on[method] != nil:
			on[method](w, r)
			return
		case m["id"] == nil || method == "":
			w.WriteHeader(http.StatusAccepted)
			return
		case handle == nil:
			handle = defaults[method]
		}
		f.respond(m, handle)
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(out.Bytes())
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for line := range strings.Lines(out.String()) {
			_, _ = fmt.Fprintf(w, "data: %s\n", line)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestRevisionsOverHTTP: each with answers of both kinds.
func TestRevisionsOverHTTP(t *testing.T) {
	for _, version := range revisions {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", version, stream), func(t *testing.T) {
				var mu sync.Mutex
				var headers []string
				f := (&fake{}).speaking(version)
				serve := f.overHTTP(stream, nil)
				r := probeHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					headers = append(headers, r.Header.Get("Mcp-Protocol-Version"))
					mu.Unlock()
					serve(w, r)
				}), report.TransportStreamableHTTP, "/mcp", quick)
				if r.Incomplete.Reason != "" || r.ProtocolVersion != version || r.Coverage.Tools.Accepted != 1 || r.Pollution.Lines+len(r.Breaches) != 0 {
					t.Errorf("result %+v", r)
				}
				want := version
				if version < "2025-06-18" { // which have no such header
					want = ""
				}
				if headers[0] != "" || headers[1] != want || headers[len(headers)-1] != want {
					t.Errorf("revisions in headers: %q", headers)
				}
				ascends(t, r)
			})
		}
	}
}

// speaking answers initialize with a revision.
func (f *fake) speaking(version string) *fake {
	f.withCapabilities("tools")
	f.on["initialize"] = func(*fake, map[string]any) any {
		return map[string]any{"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}}}
	}
	return f
}

func TestStatelessOverHTTP(t *testing.T) {
	f := statelessOnly()
	// Without the handshake it is not known that this is the revision: a server says so.
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32020,"message":"Mcp-Method is missing"}}`)
	}
	r := probeHTTP(t, f.overHTTP(false, map[string]http.HandlerFunc{"initialize": refuse}), report.TransportStreamableHTTP, "/mcp", quick)
	if !r.NeedDiscover || !strings.Contains(r.Incomplete.Message, `the server refused initialize: error -32020: "Mcp-Method is missing"`) {
		t.Errorf("result %+v", r)
	}
	o := quick
	o.Discover = true
	r = probeHTTP(t, f.overHTTP(true, nil), report.TransportStreamableHTTP, "/mcp", o)
	if r.Incomplete.Reason != "" || r.ProtocolVersion != stateless || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("result %+v", r)
	}
}

// A server may ask by the stream of a request, and in batches where the revision has
// them; the answers are posted.
func TestServerRequestsOverHTTP(t *testing.T) {
	for version, asked := range map[string]string{
		newest:       `{"jsonrpc":"2.0","id":"p","method":"ping"}`,
		"2025-03-26": `[{"jsonrpc":"2.0","id":"p","method":"ping"},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}]`,
	} {
		t.Run(version, func(t *testing.T) {
			f := (&fake{}).speaking(version)
			f.on["tools/call"] = func(f *fake, _ map[string]any) any {
				f.println(asked)
				return content("done")
			}
			r := probeHTTP(t, f.overHTTP(true, nil), report.TransportStreamableHTTP, "/mcp", quick)
			if r.Incomplete.Reason != "" || r.Pollution.Lines+len(r.Breaches) != 0 {
				t.Errorf("result %+v", r)
			}
			if answers := f.saw(""); len(answers) == 0 || answers[0]["id"] != "p" || answers[0]["result"] == nil {
				t.Errorf("answers %v", answers)
			}
		})
	}
}

// TestHTTPErrors: a call that fails in the transport makes the session incomplete, and
// is not its end; one that shows that the rest is lost is.
func TestHTTPErrors(t *testing.T) {
	status := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tc := range map[string]struct {
		method  string
		handler http.HandlerFunc
		message string
		bad     int // breaches
		listed  bool
	}{
		"error":        {"tools/call", status(500, "oops"), `no answer to tools/call of tool format_note: HTTP 500 from the server: "oops"`, 0, true},
		"HTML":         {"tools/call", status(200, "<p>"), `the server answered with content of type "text/`, 1, true},
		"unauthorized": {"initialize", status(401, ""), "no answer to initialize: HTTP 401 from the server", 0, false},
		"redirect": {"initialize", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		},
			`HTTP 307 from the server, which points to "/mcp/"`, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := probeHTTP(t, (&fake{}).overHTTP(false, map[string]http.HandlerFunc{tc.method: tc.handler}), report.TransportStreamableHTTP, "/mcp", quick)
			if r.Incomplete.Reason != report.ReasonProtocolError || !strings.Contains(r.Incomplete.Message, tc.message) {
				t.Errorf("incomplete %+v", r.Incomplete)
			}
			if len(r.Breaches) != tc.bad || r.Pollution.Lines > 0 || r.Listed != tc.listed || r.Coverage.Tools.Accepted != 0 {
				t.Errorf("result %+v", r)
			}
		})
	}
}

// A JSON-RPC error is one whatever the status it comes with.
func TestErrorWithStatus(t *testing.T) {
	f := &fake{}
	r := probeHTTP(t, f.overHTTP(false, map[string]http.HandlerFunc{"tools/call": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such note"}}`)
	}}), report.TransportStreamableHTTP, "/mcp", quick)
	if r.Incomplete.Reason != "" || r.Coverage.Tools != (report.Exercised{Listed: 1, Called: 1}) {
		t.Errorf("result %+v", r)
	}
}

// A call without an answer is given up; the others are made.
func TestHungCallOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{}, 100)
		f := &fake{}
		network := pipes.Listen()
		server := &http.Server{Handler: f.overHTTP(false, map[string]http.HandlerFunc{"tools/call": func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			gone <- struct{}{}
		}})}
		go func() { _ = server.Serve(network) }()
		r, err := Run(t.Context(), Conn{
			Exited: make(chan struct{}),
			HTTP:   &HTTP{Transport: report.TransportStreamableHTTP, URL: "http://localhost/mcp", Dial: network.Dial},
		}, quick)
		<-gone
		if err != nil || r.Incomplete.Reason != report.ReasonTimeout || r.Coverage.Tools.Called != 0 {
			t.Errorf("result %+v, %v", r, err)
		}
		if len(f.saw("notifications/cancelled")) == 0 {
			t.Error("not cancelled")
		}
		_ = server.Close()
	})
}

// A server that ends during a call is told from one that closes a connection.
func TestExitOverHTTP(t *testing.T) {
	exited := make(chan struct{})
	f := &fake{}
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = f.overHTTP(false, map[string]http.HandlerFunc{"tools/call": func(http.ResponseWriter, *http.Request) {
		_ = server.Listener.Close()
		close(exited)
		panic(http.ErrAbortHandler)
	}})
	server.Start()
	t.Cleanup(server.Close)
	r, err := Run(t.Context(), Conn{Exited: exited, HTTP: &HTTP{Transport: report.TransportStreamableHTTP, URL: server.URL}}, quick)
	if err != nil || r.Incomplete.Reason != report.ReasonServerExited || !strings.Contains(r.Incomplete.Message, "before it answered tools/call") {
		t.Errorf("incomplete %+v, %v", r.Incomplete, err)
	}
}

// What a tool's schema wants in headers is there: mcp-go refuses the call otherwise.
func TestMirroredArguments(t *testing.T) {
	s := mcpserver.NewMCPServer("mirror", "1.0.0", mcpserver.WithToolCapabilities(false))
	s.AddTool(mcp.NewToolWithRawSchema("query", "Asks.", json.RawMessage(`{"type":"object","required":["region","where"],"properties":{
		"region":{"type":"string","enum":["süd"],"x-mcp-header":"Region"},
		"where":{"type":"object","required":["row"],"properties":{"row":{"type":"integer","x-mcp-header":"Row"}}},
		"fast":{"type":"boolean","x-mcp-header":"Fast"}}}`)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), nil
		})
	o := quick
	o.Discover = true
	r := probeHTTP(t, mcpserver.NewStreamableHTTPServer(s), report.TransportStreamableHTTP, "/mcp", o)
	if r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("result %+v", r)
	}
}

// A server that does not say a word to initialize may wait for server/discover.
func TestSilenceMayBeStateless(t *testing.T) {
	silent := &fake{on: map[string]func(*fake, map[string]any) any{"initialize": func(*fake, map[string]any) any { return nil }}}
	if r := silent.probe(t, quick); !r.NeedDiscover || r.Incomplete.Reason != report.ReasonTimeout {
		t.Errorf("result %+v", r)
	}
	other := &fake{on: map[string]func(*fake, map[string]any) any{"initialize": func(*fake, map[string]any) any { return raw("usage: server FILE") }}}
	if r := other.probe(t, quick); r.NeedDiscover {
		t.Errorf("result %+v", r)
	}
}

// A server that refuses the newest revision by an HTTP error is asked for an older.
func TestOlderRevisionIsOfferedOverHTTP(t *testing.T) {
	f := (&fake{}).speaking("2025-06-18")
	serve := f.overHTTP(false, nil)
	r := probeHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if strings.Contains(string(text), newest) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28","2025-06-18"]}}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		serve(w, r)
	}), report.TransportStreamableHTTP, "/mcp", quick)
	if r.NeedDiscover || r.Incomplete.Reason != "" || r.ProtocolVersion != "2025-06-18" {
		t.Errorf("result %+v", r)
	}
}

// What a server does when its client has left is watched for, until it is quiet.
func TestServerIsWatchedWhenItsClientHasLeft(t *testing.T) {
	var mu sync.Mutex
	var left time.Time
	f := &fake{}
	serve := f.overHTTP(false, map[string]http.HandlerFunc{"initialize": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			mu.Lock()
			left = time.Now()
			mu.Unlock()
		}
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	asked := 0
	active := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if !left.IsZero() {
			asked++
		}
		return left
	}
	_, err := Run(t.Context(), Conn{
		Exited: make(chan struct{}), Active: active, HTTP: &HTTP{Transport: report.TransportStreamableHTTP, URL: server.URL},
	}, quick)
	if err != nil || left.IsZero() || asked == 0 {
		t.Errorf("left %v, asked %d times, %v", left, asked, err)
	}
}
