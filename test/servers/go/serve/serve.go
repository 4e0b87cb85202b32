// Package serve puts the test servers in Go behind the transport that their
// command line names.
package serve

import (
	"cmp"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/server"
)

// Serve answers on stdin and stdout until stdin ends ("stdio"), or for ever on
// the port of the environment variable PORT (default 8080) of every address: by
// streamable HTTP at the path of HTTP_PATH (default /mcp, "http"), or by HTTP+SSE at
// /sse ("sse"). With "beside" it answers on stdin and stdout, and serves no MCP on
// that port of the loopback; with "metrics" it does that alone.
func Serve(s *server.MCPServer, transport string) error {
	address := ":" + cmp.Or(os.Getenv("PORT"), "8080")
	switch transport {
	case "stdio":
		return server.ServeStdio(s)
	case "http":
		path := cmp.Or(os.Getenv("HTTP_PATH"), "/mcp")
		return http.ListenAndServe(address, only(path, server.NewStreamableHTTPServer(s))) //nolint:gosec // a test server
	case "beside":
		go func() { log.Println(metrics(address)) }()
		return server.ServeStdio(s)
	case "metrics":
		return metrics(address)
	case "sse":
		return server.NewSSEServer(s).Start(address)
	}
	return fmt.Errorf("transport %q is not stdio, http, sse, beside or metrics", transport)
}

// only serves one path, and nothing at others, nor to web pages.
func only(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Origin") != "" {
			http.Error(w, "no web page has anything to ask here", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// metrics serves what is no MCP.
func metrics(address string) error {
	return http.ListenAndServe("localhost"+address, http.NotFoundHandler()) //nolint:gosec // a test server
}

// Transport is the first argument of the command line, or stdio.
func Transport() string {
	if len(os.Args) > 1 {
		return os.Args[1]
	}
	return "stdio"
}
