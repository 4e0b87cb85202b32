// Command honest is an MCP server that does what it says.
package main

import (
	"log"

	"github.com/mcpaudit/mcpaudit/test/servers/go/note"
)

func main() {
	if err := note.Serve(note.Options{}); err != nil {
		log.Fatal(err)
	}
}
