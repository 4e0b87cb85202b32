package probe

import (
	"context"
	"io"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// notes is a server made with mcp-go, which speaks all revisions.
func notes(ask bool) *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("notes", "1.0.0",
		mcpserver.WithToolCapabilities(true), mcpserver.WithResourceCapabilities(false, true), mcpserver.WithPromptCapabilities(true))
	s.AddTool(mcp.NewTool("format_note", mcp.WithDescription("Formats a note."), mcp.WithString("note", mcp.Required())),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := r.RequireString("note")
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			if ask && r.Params.InputResponses == nil {
				result := &mcp.CallToolResult{}
				result.ResultType = mcp.ResultTypeInputRequired
				result.InputRequests = mcp.InputRequests{"roots": mcp.NewRootsInputRequest()}
				result.RequestState = "half way"
				return result, nil
			}
			return mcp.NewToolResultText(text), nil
		})
	s.AddResource(mcp.NewResource("note://1", "one"),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "note://1", Text: "milk"}}, nil
		})
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("city", mcp.RequiredArgument())),
		func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", nil), nil
		})
	return s
}

func probeReal(t *testing.T, s *mcpserver.MCPServer, o Options) Result {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	exited := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(exited)
		_ = mcpserver.NewStdioServer(s).Listen(ctx, inRead, outWrite) // ends with its stdin
		_ = outWrite.Close()
	}()
	t.Cleanup(func() { cancel(); _ = outRead.Close(); <-exited })
	result, err := Run(ctx, Conn{Stdin: inWrite, Stdout: outRead, Exited: exited}, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestServerOfMCPGo(t *testing.T) {
	for name, tc := range map[string]struct {
		discover, ask bool
		version       string
	}{
		"handshake":            {false, false, newest},
		"stateless":            {true, false, stateless},
		"stateless with input": {true, true, stateless},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick
			o.Discover = tc.discover
			r := probeReal(t, notes(tc.ask), o)
			if r.Incomplete.Reason != "" || r.ProtocolVersion != tc.version || r.ServerName != "notes" || r.Pollution.Lines+len(r.Breaches) != 0 {
				t.Errorf("result: %+v", r)
			}
			one := report.Exercised{Listed: 1, Called: 1, Accepted: 1}
			r.Coverage.Branches = report.Share{} // a matter of the form
			if want := (report.Coverage{Tools: one, Resources: one, Prompts: one, Calls: report.Share{Total: 3, Done: 3}}); r.Coverage != want {
				t.Errorf("coverage %+v", r.Coverage)
			}
		})
	}
}

// The manifest is the same whichever way it was come by.
func TestManifestDoesNotDependOnTheRevision(t *testing.T) {
	o := quick
	handshake := probeReal(t, notes(false), o).Manifest.Report()
	o.Discover = true
	discovered := probeReal(t, notes(false), o).Manifest.Report()
	if handshake.Digest != discovered.Digest {
		t.Errorf("difference: %v", report.Diff(handshake, discovered))
	}
}
