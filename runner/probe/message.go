package probe

import (
	"encoding/json"
	"fmt"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// codeMethodNotFound is "method not found" (JSON-RPC 2.0, section 5.1).
const codeMethodNotFound = -32601

// maxSample bounds the kept part of a bad message, in bytes.
const maxSample = transport.MaxSample

// message is a JSON-RPC message (https://www.jsonrpc.org/specification). Which
// of the members are set tells requests, notifications and responses apart.
type message struct {
	id     json.RawMessage
	method string
	params json.RawMessage
	result json.RawMessage
	err    *rpcError
}

// rpcError is the error of a response.
type rpcError struct {
	Code    int
	Message string
	data    json.RawMessage
}

// Error returns the code and the server's text, bounded and quoted.
func (e *rpcError) Error() string {
	return fmt.Sprintf("error %d: %q", e.Code, sample([]byte(e.Message)))
}

// parseMessage parses one line; not ok when it is no JSON-RPC message.
func parseMessage(text []byte) (m message, ok bool) {
	members := manifest.Object(text)
	if manifest.Text(members["jsonrpc"]) != "2.0" {
		return message{}, false
	}
	m = message{
		id: members["id"], method: manifest.Text(members["method"]),
		params: members["params"], result: members["result"],
	}
	if raw, has := members["error"]; has && string(raw) != "null" {
		if m.err = parseError(raw); m.err == nil {
			return message{}, false
		}
	}
	if m.isResponse() {
		return m, (m.result == nil) != (m.err == nil)
	}
	return m, m.method != ""
}

// parseError parses the error of a response; nil when it is none.
func parseError(raw json.RawMessage) *rpcError {
	of := manifest.Object(raw)
	e := &rpcError{Message: manifest.Text(of["message"]), data: of["data"]}
	if json.Unmarshal(of["code"], &e.Code) == nil {
		return e
	}
	return nil
}

// parseRefusal parses the body of an HTTP error, which need not have an id
// (specification 2025-11-25, basic/transports); nil when it is no JSON-RPC error.
func parseRefusal(body []byte) *rpcError {
	members := manifest.Object(body)
	if manifest.Text(members["jsonrpc"]) != "2.0" {
		return nil
	}
	return parseError(members["error"])
}

// isResponse: a response has an id and no method. The id of an error may be
// null, when the server could not make out what it answers.
func (m message) isResponse() bool { return m.method == "" && m.id != nil }

// isRequest: a request has a method and an id.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }

// sample returns the beginning of a text for people.
func sample(text []byte) string { return transport.Sample(text) }
