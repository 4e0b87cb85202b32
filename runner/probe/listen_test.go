package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// A server of the stateless revision announces what it changes by the stream that is
// opened for that.
func TestListen(t *testing.T) {
	o := quick
	o.Discover = true
	for name, probe := range map[string]func(*testing.T, *mcpserver.MCPServer) Result{
		"stdio": func(t *testing.T, s *mcpserver.MCPServer) Result { return probeReal(t, s, o) },
		"HTTP": func(t *testing.T, s *mcpserver.MCPServer) Result {
			return probeHTTP(t, mcpserver.NewStreamableHTTPServer(s), report.TransportStreamableHTTP, "/mcp", o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := notes(false)
			s.AddTool(mcp.NewTool("add_tool"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				s.AddTool(mcp.NewTool("added"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return mcp.NewToolResultText("done"), nil
				})
				return mcp.NewToolResultText("added"), nil
			})
			r := probe(t, s)
			if fmt.Sprint(r.Drift.Added) != "[tool added]" || !r.Announced || r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 3 || len(r.Breaches) != 0 {
				t.Errorf("drift %v, announced %t, %+v, breaches %+v", r.Drift, r.Announced, r.Incomplete, r.Breaches)
			}
		})
	}
}

// A server that refuses the stream, or answers at once, is as good as any.
func TestListenRefused(t *testing.T) {
	for name, answer := range map[string]func(*fake, map[string]any) any{
		"unknown": nil,
		"ended":   func(*fake, map[string]any) any { return map[string]any{"resultType": "complete"} },
		"silent":  func(*fake, map[string]any) any { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := statelessOnly()
			f.on[methodListen] = answer
			f.on[methodDiscover] = func(*fake, map[string]any) any {
				return map[string]any{"supportedVersions": []any{stateless}, "capabilities": json.RawMessage(`{"tools":{"listChanged":true}}`)}
			}
			o := quick
			o.Discover = true
			r := f.probe(t, o)
			if r.Incomplete.Reason != "" || len(r.Breaches) != 0 || r.Coverage.Tools != (report.Exercised{Listed: 1, Called: 1, Accepted: 1}) {
				t.Errorf("%+v, %+v, %+v", r.Incomplete, r.Breaches, r.Coverage)
			}
			if asked := f.saw(methodListen); len(asked) != 1 {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
