package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// The members by which agents and models write down a call of a tool.
var (
	callKinds   = []string{"tool_use", "tool_call", "tooluse", "toolcall", "function_call", "mcp_tool_use", "tool-call"}
	callNames   = []string{"tool", "tool_name", "toolName"}
	callDetails = []string{"arguments", "args", "input", "parameters", "params", "tool_input"}
)

// aboutCalls are words of servers that deal with tool calls: such calls may be their data.
var aboutCalls = []string{"agent", "agents", "workflow", "workflows", "orchestrate", "orchestrates", "orchestration", "trace", "traces", "llm", "mcp"}

// foreignCall returns a call of another server's tool, with an address, in what a server wrote itself; "" for none. text
// lacks the arguments of its own call. An agent that goes on with it sends something to that address.
func (in Input) foreignCall(out Output, text string) (quote string) {
	if in.fetched(out.Capability) || prompting(out) || in.Scope.Covering(out.Capability).Mentions(aboutCalls...) {
		return ""
	}
	for _, value := range jsonIn(text) {
		walkObjects(value, 0, func(object map[string]any) {
			if name, details := callIn(object); quote == "" && name != "" && !in.toolNames.tools.Has(bare(name)) {
				if written, err := json.Marshal(details); err == nil && anAddress.MatchString(string(written)) {
					quote = name + " " + string(written)
				}
			}
		})
	}
	return quote
}

// anAddress matches an address of a web page or of e-mail.
var anAddress = lazyregexp.New(`(?i)https?://[^\s"]|[\w.+-]+@[\w-]+\.[\w.-]+`)

// bare returns the name of a tool without the server's, which hosts put before it: "mcp__notes__save_note".
func bare(name string) string {
	for _, separator := range []string{"__", "/", ".", ":"} {
		if at := strings.LastIndex(name, separator); at >= 0 {
			name = name[at+len(separator):]
		}
	}
	return name
}

// maxDocuments bounds the JSON that is read of a text, by number.
const maxDocuments = 64

// jsonIn returns the JSON objects and lists in a text.
func jsonIn(text string) (all []any) {
	for range maxDocuments {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		var value any
		decoder := json.NewDecoder(strings.NewReader(text[at:]))
		if decoder.Decode(&value) != nil {
			text = text[at+1:]
			continue
		}
		all, text = append(all, value), text[at+int(decoder.InputOffset()):]
	}
	return all
}

// callIn returns the tool and the arguments of the call that an object is; "" if it is none.
func callIn(object map[string]any) (tool string, details map[string]any) {
	for _, key := range callDetails {
		if details == nil {
			details, _ = object[key].(map[string]any)
		}
	}
	if details == nil {
		return "", nil
	}
	for _, key := range callNames {
		if name, _ := object[key].(string); name != "" {
			return name, details
		}
	}
	if kind, _ := object["type"].(string); slices.Contains(callKinds, strings.ToLower(kind)) {
		tool, _ = object["name"].(string)
	}
	return tool, details
}

// walkObjects visits the objects of a value of JSON, as deep as texts are read.
func walkObjects(value any, depth int, visit func(map[string]any)) {
	if depth > maxWalk {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			walkObjects(one, depth+1, visit)
		}
	case map[string]any:
		visit(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walkObjects(v[key], depth+1, visit)
		}
	}
}
