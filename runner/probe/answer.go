package probe

import (
	"cmp"
	"encoding/json"
	"net/url"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// capabilities lists what this client says that it can do: what it has an answer
// for. Tools that need one of them are advertised only to such a client.
var capabilities = map[string]any{
	"roots":       map[string]any{"listChanged": true},
	"sampling":    map[string]any{},
	"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
}

// answerRequest makes the response to a request of the server.
func answerRequest(m message, answer func(method string, params json.RawMessage) any) any {
	response := map[string]any{"jsonrpc": "2.0", "id": m.id}
	if result := answer(m.method, m.params); result != nil {
		response["result"] = result
	} else {
		response["error"] = map[string]any{"code": codeMethodNotFound, "message": "method not found"}
	}
	return response
}

// answer answers a request with the marks of the call that it came with. What a user
// fills in is as good as an argument of that call.
func (s *session) answer(method string, params json.RawMessage) any {
	mark := s.outputs.mark(s.options.Seed)
	if s.options.Attack != nil {
		mark.Call = answered // the mark of an attempt in its result has to come from its argument
	}
	result := answer(method, params, s.options.Inputs, mark)
	said, _ := result.(map[string]any)
	if said != nil && s.enduring.Load() {
		said = moody(method, said, int(s.moods.Add(1)))
		result = said
	}
	if filled, ok := said["content"].(json.RawMessage); ok {
		s.used.add(s.outputs.asking(), filled, nil)
	}
	return result
}

// answered is the call whose mark the client's answers have while guards are tried: none has that number.
const answered = 9_999_999

// What users do with forms, and the models of clients, in the order in which repeated calls meet them.
var (
	actions = []string{"accept", "decline", "cancel"}
	models  = []string{"claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro"}
)

// moody returns another user's or model's answer to the nth request: a server may act only when a user declines.
func moody(method string, accepts map[string]any, n int) map[string]any {
	switch {
	case method == "sampling/createMessage":
		accepts["model"] = models[n%len(models)]
	case method == "elicitation/create" && actions[n%len(actions)] != "accept":
		return map[string]any{"action": actions[n%len(actions)]}
	}
	return accepts
}

// answer returns what a user and a model at the other end might say; nil for what
// this client does not know. It serves both the requests that a server sends
// and those in an input_required result (revision 2026-07-28).
func answer(method string, params json.RawMessage, o inputs.Options, mark inputs.Mark) any {
	switch method {
	case "ping":
		return map[string]any{}
	case "roots/list":
		root := url.URL{Scheme: "file", Path: cmp.Or(o.Root, o.Dir)}
		return map[string]any{"roots": []any{map[string]any{"uri": root.String(), "name": "notes"}}}
	case "sampling/createMessage":
		return map[string]any{
			"role": "assistant", "model": "claude-sonnet-4-5", "stopReason": "endTurn",
			"content": map[string]any{"type": "text", "text": mark.Text()},
		}
	case "elicitation/create":
		given := manifest.Object(params)
		if manifest.Text(given["mode"]) == "url" {
			return map[string]any{"action": "accept"} // the page is not visited
		}
		o.All = true
		return map[string]any{"action": "accept", "content": inputs.Arguments(given["requestedSchema"], o, mark)}
	}
	return nil
}
