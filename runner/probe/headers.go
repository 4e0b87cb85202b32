package probe

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// mirror is an argument of a tool that is repeated in a header of the request
// (specification 2026-07-28, basic/transports/streamable-http, "custom headers from
// tool parameters").
type mirror struct {
	path   []string // the names that lead to it in the arguments
	header string
}

// The bounds of what is followed and kept of schemas.
const (
	maxMirrors     = 64 // of one tool
	maxMirrorDepth = 16
)

// token is the name of a header (RFC 9110, section 5.1), of a sane length.
var token = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")

// learn keeps the mirrors of the tools in the result of a list. It is called with
// the lock held.
func (w *wire) learn(result json.RawMessage) {
	if w.conn.HTTP == nil || !transport.RevisionOf(w.version).Stateless {
		return
	}
	tools, _ := array(manifest.Object(result)["tools"])
	for _, raw := range tools[:min(len(tools), maxListed)] {
		tool := manifest.Object(raw)
		if found := mirrors(tool["inputSchema"], nil, nil); len(found) > 0 && len(w.mirrors) < maxListed {
			w.mirrors[manifest.Text(tool["name"])] = found
		}
	}
}

// mirrors adds those of a schema at a path.
func mirrors(schema json.RawMessage, path []string, to []mirror) []mirror {
	if len(path) > maxMirrorDepth {
		return to
	}
	for name, raw := range manifest.Object(manifest.Object(schema)["properties"]) {
		here := append(slices.Clone(path), name)
		if header := manifest.Text(manifest.Object(raw)["x-mcp-header"]); token.MatchString(header) && len(to) < maxMirrors {
			to = append(to, mirror{path: here, header: "Mcp-Param-" + header})
		}
		to = mirrors(raw, here, to)
	}
	return to
}

// describe fills in the fields of a message that HTTP needs.
func (w *wire) describe(m *transport.Message) {
	of := manifest.Object(m.Text)
	m.Method = manifest.Text(of["method"])
	if m.Method != "" {
		m.ID = string(of["id"])
	}
	params := manifest.Object(of["params"])
	switch m.Method {
	case "resources/read":
		m.Name = manifest.Text(params["uri"])
	case "prompts/get":
		m.Name = manifest.Text(params["name"])
	case "tools/call":
		m.Name = manifest.Text(params["name"])
		w.mu.Lock()
		defer w.mu.Unlock()
		m.Header = http.Header{}
		for _, one := range w.mirrors[m.Name] {
			if value, ok := primitive(at(params["arguments"], one.path)); ok {
				m.Header.Set(one.header, transport.HeaderValue(value))
			}
		}
	}
}

// at returns the value at a path; nil for none.
func at(value json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		value = manifest.Object(value)[name]
	}
	return value
}

// primitive returns a value as the text of a header: a string, a boolean or an integer
// that JavaScript represents exactly.
func primitive(raw json.RawMessage) (string, bool) {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch value := value.(type) {
	case string:
		return value, true
	case bool:
		return strconv.FormatBool(value), true
	case float64:
		const safe = 1<<53 - 1
		return strconv.FormatFloat(value, 'f', 0, 64), value == math.Trunc(value) && math.Abs(value) <= safe
	}
	return "", false
}
