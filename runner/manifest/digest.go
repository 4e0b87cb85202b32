package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// identifier is the member that names an item of a kind.
func identifier(kind report.CapabilityKind) string {
	switch kind {
	case report.CapabilityResource:
		return "uri"
	case report.CapabilityResourceTemplate:
		return "uriTemplate"
	default:
		return "name"
	}
}

// hashed lists the members of an item that its digest covers.
func hashed(kind report.CapabilityKind) []string {
	switch kind {
	case report.CapabilityTool:
		return []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
	case report.CapabilityPrompt:
		return []string{"name", "title", "description", "arguments"}
	default:
		return []string{"name", "title", "description", "mimeType", identifier(kind)}
	}
}

// defaultHints are the values of tool annotations that say nothing, by the
// schema of MCP 2025-11-25 (ToolAnnotations).
var defaultHints = map[string]string{
	"readOnlyHint": "false", "destructiveHint": "true", "idempotentHint": "false", "openWorldHint": "true",
}

// digestItem hashes the canonical JSON of the members that count. An item
// without a canonical form is hashed whole and as it stands, but for white
// space between tokens: that may see a change where there is none, and never
// the reverse. No JSON begins with "raw ", so the two cannot be confused.
func digestItem(kind report.CapabilityKind, raw json.RawMessage, members map[string]json.RawMessage) string {
	if _, err := Canonical(raw); err != nil || members == nil {
		return digestRaw(raw)
	}
	kept := make(map[string]json.RawMessage, len(members))
	for _, key := range hashed(kind) {
		value := members[key]
		if key == "annotations" {
			value = withoutDefaults(value)
		}
		if !empty(value) {
			kept[key] = value
		}
	}
	return digestMembers(kept)
}

func (m Manifest) digestEnvelope() string {
	kept := map[string]json.RawMessage{}
	for key, value := range map[string]json.RawMessage{
		"name": m.ServerName, "instructions": m.Instructions, "capabilities": m.Capabilities,
	} {
		if !empty(value) {
			kept[key] = value
		}
	}
	return digestMembers(kept)
}

// digestMembers hashes the canonical form of an object.
func digestMembers(members map[string]json.RawMessage) string {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			text.WriteByte(',')
		}
		writeString(&text, key)
		text.WriteByte(':')
		text.Write(members[key])
	}
	text.WriteByte('}')
	canonical, err := Canonical(text.Bytes())
	if err != nil {
		return digestRaw(text.Bytes())
	}
	return digest(canonical)
}

func digestRaw(raw []byte) string {
	var compact bytes.Buffer
	compact.WriteString("raw ")
	if json.Compact(&compact, raw) != nil {
		return digest(append([]byte("raw "), raw...))
	}
	return digest(compact.Bytes())
}

// withoutDefaults leaves out the hints that have their default value.
func withoutDefaults(annotations json.RawMessage) json.RawMessage {
	members := Object(annotations)
	if members == nil {
		return annotations
	}
	kept := map[string]json.RawMessage{}
	for key, value := range members {
		if byDefault, is := defaultHints[key]; (is && string(value) == byDefault) || empty(value) {
			continue
		}
		kept[key] = value
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return annotations
	}
	return text
}

// empty tells whether a member says no more than its absence does. SDKs differ
// in whether they write such members.
func empty(value json.RawMessage) bool {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "{}", "[]":
		return true
	}
	return false
}
