package sinkhole

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// rpc is a request of JSON-RPC 2.0.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// rpc answers a request of JSON-RPC over HTTP by its id; false for any other. Servers that are clients of another MCP
// server find one without tools.
func (t *conversation) rpc(r *http.Request, sent []byte) (content, bool) {
	if r.Method == http.MethodGet && r.Header.Get("Mcp-Protocol-Version") != "" {
		return content{kind: asText.kind, status: http.StatusMethodNotAllowed}, true // this server sends no messages of its own
	}
	var request rpc
	if json.Unmarshal(sent, &request) != nil || request.Version != "2.0" || request.Method == "" {
		return content{}, false
	}
	if request.ID == nil {
		return content{kind: asJSON.kind, status: http.StatusAccepted}, true
	}
	body := request.ofMCP()
	if body == nil {
		body = t.answerMessage(sent)
	}
	return content{kind: asJSON.kind, body: string(body)}, true
}

// ofMCP returns the answer of an MCP server (specification 2025-06-18); nil for a request of another protocol.
func (r rpc) ofMCP() []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": r.ID}
	switch r.Method {
	case "initialize":
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Params, &params) != nil || params.ProtocolVersion == "" {
			return nil
		}
		answer["result"] = map[string]any{
			"protocolVersion": params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]string{"name": "note", "version": "1.0.0"},
		}
	case "server/discover":
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	case "tools/list", "resources/list", "prompts/list":
		answer["result"] = map[string]any{strings.TrimSuffix(r.Method, "/list"): []any{}}
	case "tools/call":
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": pageText}}, "isError": false}
	default:
		return nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil // the id is JSON
	}
	return text
}

// session matches the first request of a client of MCP.
var session = lazyregexp.New(`"method"\s*:\s*"(?:initialize|server/discover)"`)

// MCP reports whether the server asked another MCP server for a session.
func (c Capture) MCP() bool {
	return (c.Protocol == "http" || c.Protocol == "https") && bytes.Contains(c.Data, []byte(`rotocolVersion"`)) && session.MatchString(string(c.Data))
}
