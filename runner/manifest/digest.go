package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// identifier returns the member that names an item of a kind.
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

// hashed returns the members of an item that its digest covers.
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

// defaultHints has the default values of tool annotations, from the schema of
// MCP 2025-11-25 (ToolAnnotations).
var defaultHints = map[string]string{
	"readOnlyHint": "false", "destructiveHint": "true", "idempotentHint": "false", "openWorldHint": "true",
}

// digestItem hashes the canonical JSON of the members that count. An item without
// a canonical form is hashed whole, without white space between tokens: that may
// show a change where there is none, but never hide one. No JSON begins with
// "raw ", so the two forms cannot be confused.
func digestItem(kind report.CapabilityKind, raw json.RawMessage, members map[string]json.RawMessage) string {
	if _, err := Canonical(raw); err != nil || members == nil {
		return digestRaw(raw)
	}
	return counting(members, hashed(kind)).digest()
}

// separateMembers are the members that have their own fields in a report.
var separateMembers = []string{"title", "description"}

// definition returns the canonical JSON of the members that count and have no other
// field in the report; empty if there is none that fits.
func (i Item) definition(kind report.CapabilityKind) string {
	if _, err := Canonical(i.raw); err != nil || i.Members == nil {
		return ""
	}
	keys := slices.DeleteFunc(hashed(kind), func(key string) bool {
		return key == identifier(kind) || slices.Contains(separateMembers, key) && Text(i.Members[key]) != ""
	})
	return counting(i.Members, keys).definition()
}

type object map[string]json.RawMessage

// counting returns the non-empty members with the given keys.
func counting(members map[string]json.RawMessage, keys []string) object {
	kept := make(object, len(keys))
	for _, key := range keys {
		value := members[key]
		if key == "annotations" {
			value = withoutDefaults(value)
		}
		if !empty(value) {
			kept[key] = value
		}
	}
	return kept
}

// envelope returns the members outside the items, with the instructions or without.
func (m Manifest) envelope(instructions bool) object {
	members := object{"name": m.ServerName, "capabilities": m.Capabilities}
	keys := []string{"name", "capabilities"}
	if instructions || Text(m.Instructions) == "" {
		members["instructions"], keys = m.Instructions, append(keys, "instructions")
	}
	return counting(members, keys)
}

// digest hashes the canonical form.
func (o object) digest() string {
	canonical, err := Canonical(o.text())
	if err != nil {
		return digestRaw(o.text())
	}
	return digest(canonical)
}

// definition returns the canonical form, or "" if a report has no room for it.
func (o object) definition() string {
	canonical, err := Canonical(o.text())
	if err != nil || len(canonical) > report.MaxDefinition {
		return ""
	}
	return string(canonical)
}

func (o object) text() []byte {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			text.WriteByte(',')
		}
		writeString(&text, key)
		text.WriteByte(':')
		text.Write(o[key])
	}
	text.WriteByte('}')
	return text.Bytes()
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

// empty reports whether a member is equivalent to its absence. SDKs differ in
// whether they write such members.
func empty(value json.RawMessage) bool {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "{}", "[]":
		return true
	}
	return false
}
