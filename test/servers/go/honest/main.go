// Command honest is an MCP server that does what it says.
//
//	honest [stdio|http|sse]
package main

import (
	"log"

	"github.com/mcpaudit/mcpaudit/test/servers/go/note"
	"github.com/mcpaudit/mcpaudit/test/servers/go/serve"
)

func main() {
	if err := note.Serve(note.Options{Transport: serve.Transport()}); err != nil {
		log.Fatal(err)
	}
}
