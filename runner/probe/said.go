package probe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// spoken are the members of results and params that are texts, or hold blocks with
// texts, in the order in which a reader sees them.
var spoken = []string{"systemPrompt", "message", "description", "data", "content", "contents", "messages"}

// unspoken are members without content for a reader.
var unspoken = map[string]bool{
	"isError": true, "resultType": true, "progressToken": true, "progress": true, "total": true, "level": true,
	"mode": true, "maxTokens": true, "includeContext": true, "ttlMs": true, "cacheScope": true,
}

// said returns what a result, or the params of a message, tells those who read it: its
// texts as they are, not as JSON has them, one after the other, and what else there
// is as JSON. "" when that is nothing.
func said(raw json.RawMessage) string {
	members := manifest.Object(raw)
	if members == nil {
		return plain(raw)
	}
	var parts []string
	for _, key := range spoken {
		parts = append(parts, blocks(members[key], 0)...)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(spoken, key) && (!unspoken[key] || key == "includeContext" && plain(members[key]) == "allServers") {
			parts = append(parts, rest(key, members[key], parts)...)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// rest is a member as JSON, unless it is empty or the first text says the same:
// structured content mostly stands there as well.
func rest(key string, raw json.RawMessage, texts []string) []string {
	var compact, first bytes.Buffer
	if json.Compact(&compact, raw) != nil || slices.Contains([]string{"{}", "[]", "null", `""`}, compact.String()) {
		return nil
	}
	if key == "structuredContent" && len(texts) > 0 && json.Compact(&first, []byte(texts[0])) == nil &&
		bytes.Equal(first.Bytes(), compact.Bytes()) {
		return nil
	}
	return []string{key + ": " + compact.String()}
}

// maxNested bounds the nesting of blocks: a message has content, with a
// resource, with a text.
const maxNested = 3

// blocks are the texts of one content block, or of a list of them.
func blocks(raw json.RawMessage, depth int) []string {
	if raw == nil {
		return nil
	}
	list, ok := array(raw)
	if !ok {
		return []string{block(raw, depth)}
	}
	texts := make([]string, 0, len(list))
	for _, one := range list {
		texts = append(texts, block(one, depth))
	}
	return texts
}

// quiet are members of a block that go without saying.
var quiet = map[string]bool{"type": true, "text": true, "uri": true, "mimeType": true, "role": true, "content": true, "resource": true}

// block returns what one content block says: its text, that of the resource in it or of
// the message's content; without a text it is JSON.
func block(raw json.RawMessage, depth int) string {
	members := manifest.Object(raw)
	if members == nil || depth == maxNested {
		return plain(raw)
	}
	parts := append(blocks(members["content"], depth+1), blocks(members["resource"], depth+1)...)
	if text, has := members["text"]; has {
		parts = append(parts, plain(text))
	}
	if len(parts) == 0 {
		return plain(raw)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !quiet[key] {
			parts = append(parts, rest(key, members[key], nil)...)
		}
	}
	return strings.Join(parts, "\n")
}

// plain is a string as it is, and anything else as JSON; "" for null.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return ""
	}
	return compact.String()
}

// said is the text of an error, with what it has for data.
func (e *rpcError) said() string {
	if data := plain(e.data); data != "" && data != "null" {
		return e.Message + "\n" + data
	}
	return e.Message
}
