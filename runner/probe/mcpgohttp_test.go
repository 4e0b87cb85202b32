package probe

import (
	"net/http"
	"net/http/httptest"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// probeHTTP runs a session with a server that listens at a path.
func probeHTTP(t *testing.T, handler http.Handler, as report.Transport, path string, o Options) Result {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	result, err := Run(t.Context(), Conn{Exited: make(chan struct{}), HTTP: &HTTP{Transport: as, URL: server.URL + path}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestServerOfMCPGoOverHTTP(t *testing.T) {
	streamable := func(options ...mcpserver.StreamableHTTPOption) func(*mcpserver.MCPServer) http.Handler {
		return func(s *mcpserver.MCPServer) http.Handler { return mcpserver.NewStreamableHTTPServer(s, options...) }
	}
	sse := func(options ...mcpserver.SSEOption) func(*mcpserver.MCPServer) http.Handler {
		return func(s *mcpserver.MCPServer) http.Handler { return mcpserver.NewSSEServer(s, options...) }
	}
	for name, tc := range map[string]struct {
		serve     func(*mcpserver.MCPServer) http.Handler
		transport report.Transport
		path      string
		discover  bool
		ask       bool
		version   string
	}{
		"with a session":       {streamable(mcpserver.WithStateful(true)), report.TransportStreamableHTTP, "/mcp", false, false, newest},
		"without a session":    {streamable(mcpserver.WithStateLess(true)), report.TransportStreamableHTTP, "/mcp", false, false, newest},
		"without streams":      {streamable(mcpserver.WithDisableStreaming(true)), report.TransportStreamableHTTP, "/mcp", false, false, newest},
		"stateless":            {streamable(), report.TransportStreamableHTTP, "/mcp", true, false, stateless},
		"stateless with input": {streamable(), report.TransportStreamableHTTP, "/mcp", true, true, stateless},
		"events":               {sse(), report.TransportSSE, "/sse", false, false, newest},
		"events, whole URLs":   {sse(mcpserver.WithUseFullURLForMessageEndpoint(false)), report.TransportSSE, "/sse", false, false, newest},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick
			o.Discover = tc.discover
			r := probeHTTP(t, tc.serve(notes(tc.ask)), tc.transport, tc.path, o)
			if r.Incomplete.Reason != "" || r.ProtocolVersion != tc.version || r.ServerName != "notes" || r.Pollution.Lines+len(r.Breaches) != 0 || r.Lingered {
				t.Errorf("result: %+v", r)
			}
			one := report.Exercised{Listed: 1, Called: 1, Accepted: 1}
			r.Coverage.Branches = report.Share{} // a matter of the form
			if want := (report.Coverage{Tools: one, Resources: one, Prompts: one, Calls: report.Share{Total: 3, Done: 3}}); r.Coverage != want {
				t.Errorf("coverage %+v", r.Coverage)
			}
			ascends(t, r)
		})
	}
}

// ascends checks the bytes in the ledger.
func ascends(t *testing.T, r Result) {
	t.Helper()
	end, received := int64(0), int64(0)
	for _, e := range r.Ledger {
		if e.SentStart < end || e.SentEnd <= e.SentStart || e.Received <= received {
			t.Errorf("%+v after byte %d of ours and %d of the server's", e, end, received)
		}
		end, received = e.SentEnd, e.Received
	}
}

// The manifest is the same whichever way it was come by.
func TestManifestDoesNotDependOnTheTransport(t *testing.T) {
	pipes := probeReal(t, notes(false), quick).Manifest.Report()
	http := probeHTTP(t, mcpserver.NewStreamableHTTPServer(notes(false)), report.TransportStreamableHTTP, "/mcp", quick).Manifest.Report()
	if pipes.Digest != http.Digest {
		t.Errorf("difference: %v", report.Diff(pipes, http))
	}
}
