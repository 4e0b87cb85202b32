// Package note is the MCP server that the honest, the leaky and some of the
// misbehaving servers have in common: one tool, format_note.
package note

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/test/servers"
	"github.com/mcpaudit/mcpaudit/test/servers/go/serve"
)

// Options makes a server other than the honest one.
type Options struct {
	// Description replaces the tool's own when it is not empty.
	Description string
	// Aside runs in every call before the answer is made. What it returns is put
	// behind the answer.
	Aside func(context.Context) string
	// Copies is the number of further tools that are advertised, which do the same under
	// the names format_note_1 and so on.
	Copies int
	// Transport is one of package serve, stdio if empty.
	Transport string
}

// tightHeading is a heading without the blank that CommonMark 0.31 asks for
// behind the number signs (section 4.2).
var tightHeading = regexp.MustCompile(`^(#{1,6})([^#\s])`)

// Format trims the note and each of its lines at the end, and sets a blank
// behind the number signs of headings.
func Format(note string) string {
	lines := strings.Split(strings.TrimSpace(note), "\n")
	for i, line := range lines {
		lines[i] = tightHeading.ReplaceAllString(strings.TrimRight(line, " \t\r"), "$1 $2")
	}
	return strings.Join(lines, "\n")
}

// Serve answers until stdin ends, or for ever.
func Serve(o Options) error {
	tool, err := servers.FormatNote()
	if err != nil {
		return err
	}
	if o.Description != "" {
		tool.Description = o.Description
	}
	s := server.NewMCPServer("notes", "1.0.0", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewToolWithRawSchema(tool.Name, tool.Description, tool.InputSchema), o.format)
	for n := range o.Copies {
		name := fmt.Sprintf("%s_%d", tool.Name, n+1)
		s.AddTool(mcp.NewToolWithRawSchema(name, tool.Description, tool.InputSchema), o.format)
	}
	return serve.Serve(s, cmp.Or(o.Transport, "stdio"))
}

func (o Options) format(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text, err := r.RequireString("note")
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	answer := Format(text)
	if o.Aside != nil {
		answer += o.Aside(ctx)
	}
	return mcp.NewToolResultText(answer), nil
}
