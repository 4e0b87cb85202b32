// Package serve puts the test servers in Go behind the transport that their
// command line names.
package serve

import (
	"cmp"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/server"
)

// Serve answers on stdin and stdout until stdin ends ("stdio"), or for ever on
// the port of the environment variable PORT (default 8080) of every address: by
// streamable HTTP at /mcp ("http"), or by HTTP+SSE at /sse ("sse").
func Serve(s *server.MCPServer, transport string) error {
	address := ":" + cmp.Or(os.Getenv("PORT"), "8080")
	switch transport {
	case "stdio":
		return server.ServeStdio(s)
	case "http":
		return server.NewStreamableHTTPServer(s).Start(address)
	case "sse":
		return server.NewSSEServer(s).Start(address)
	}
	return fmt.Errorf("transport %q is not stdio, http or sse", transport)
}

// Transport is the first argument of the command line, or stdio.
func Transport() string {
	if len(os.Args) > 1 {
		return os.Args[1]
	}
	return "stdio"
}
