package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// The messages, of the last revision with a handshake. note is a short tool call, for which the
// ratio is worst.
const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"mcpaudit-bench","version":"1"}}}` + "\n"
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	note        = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"format_note","arguments":{"note":"#A heading\n\nand text  "}}}` + "\n"
)

// client is a minimal MCP client, which takes hardly any time itself.
type client struct {
	stdin  io.Writer
	stdout *bufio.Reader
}

func (c *client) send(message string) error {
	if _, err := io.WriteString(c.stdin, message); err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	return nil
}

// answer reads messages up to the answer to id, which must be a result.
func (c *client) answer(id int) error {
	for {
		line, err := c.stdout.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("wait for answer %d: %w", id, err)
		}
		var m struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read answer %d: %w", id, err)
		}
		if m.ID == nil || *m.ID != id {
			continue
		}
		if m.Result == nil {
			return fmt.Errorf("answer %d is not a result: %s", id, line)
		}
		return nil
	}
}
