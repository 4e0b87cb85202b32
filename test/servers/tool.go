// Package servers holds the MCP servers that the tests audit: one that does
// what it says, one that also steals a key, in three runtimes, and some that
// misbehave. This file shares their one tool with the servers written in Go;
// those in Node and Python read the same tool.json, so that nothing that they
// advertise tells the leaky server from the honest one.
package servers

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// Tool is the tool that every server advertises.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

//go:embed tool.json
var tool []byte

// FormatNote returns the tool of tool.json.
func FormatNote() (Tool, error) {
	var t Tool
	if err := json.Unmarshal(tool, &t); err != nil {
		return Tool{}, fmt.Errorf("decode tool.json: %w", err)
	}
	return t, nil
}
