package sinkhole

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// modelPaths matches the paths of language model APIs (OpenAI, Anthropic, Google, Ollama).
var modelPaths = lazyregexp.New(`(?:/(?:completions|messages|responses|api/chat|api/generate)|:(?:stream)?[gG]enerateContent)$`)

// model answers as a language model that says one word. The answer has the fields of all services: each client
// reads those of its own.
func model(r *http.Request, sent []byte) any {
	var body map[string]any
	if r.Method != http.MethodPost || !modelPaths.MatchString(r.URL.Path) || json.Unmarshal(sent, &body) != nil {
		return nil
	}
	if body["model"] == nil && body["contents"] == nil {
		return nil
	}
	return modelSays()
}

// modelWord is the model's whole answer.
const modelWord = "note"

func modelSays() map[string]any {
	text := map[string]any{"type": "text", "text": modelWord}
	message := map[string]any{"role": "assistant", "content": modelWord}
	return map[string]any{
		"id": "note", "model": "note", "created": 1704067200, "created_at": moment, "role": "assistant", "status": "completed", "done": true,
		"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "input_tokens": 1, "output_tokens": 1},
		// OpenAI: chat completions, completions and responses.
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message, "text": modelWord}},
		"output": []any{map[string]any{"type": "message", "id": "note", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": modelWord, "annotations": []any{}}}}},
		"output_text": modelWord,
		// Anthropic.
		"type": "message", "content": []any{text}, "stop_reason": "end_turn",
		// Google.
		"candidates": []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{text}}}},
		// Ollama.
		"message": message, "response": modelWord,
	}
}

// streams reports whether a request asks for a stream of events (WHATWG HTML, 9.2).
func streams(r *http.Request, sent []byte) bool {
	accept := strings.ToLower(r.Header.Get("Accept"))
	if strings.Contains(accept, "text/event-stream") && !strings.Contains(accept, "json") || r.URL.Query().Get("alt") == "sse" {
		return true
	}
	var body struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(sent, &body) == nil && body.Stream && !ndjson.MatchString(r.URL.Path)
}

// ndjson matches the paths of Ollama, whose streams are lines of JSON: a whole answer is also a last line.
var ndjson = lazyregexp.New(`/api/(?:chat|generate)$`)

// stream returns an answer as the events of the service that is asked; other clients get one event.
func (t *conversation) stream(r *http.Request, sent []byte) content {
	var body map[string]any
	_ = json.Unmarshal(sent, &body) // anything but an object has no members
	answer, known := t.json(r, sent)
	var events events
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/completions"):
		for _, reason := range []any{nil, "stop"} {
			events.add("", map[string]any{"id": "note", "object": "chat.completion.chunk", "created": 1704067200, "model": "note", "choices": []any{
				map[string]any{"index": 0, "finish_reason": reason, "text": modelWord, "delta": map[string]any{"role": "assistant", "content": modelWord}}}})
		}
	case strings.HasSuffix(path, "/messages"):
		block := map[string]any{"type": "text", "text": ""}
		events.add("message_start", map[string]any{"message": map[string]any{"id": "note", "type": "message", "role": "assistant", "model": "note", "content": []any{},
			"stop_reason": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}})
		events.add("content_block_start", map[string]any{"index": 0, "content_block": block})
		events.add("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": modelWord}})
		events.add("content_block_stop", map[string]any{"index": 0})
		events.add("message_delta", map[string]any{"delta": map[string]any{"stop_reason": "end_turn"}, "usage": map[string]any{"output_tokens": 1}})
		events.add("message_stop", map[string]any{})
		return events.content(known.status)
	case body["input"] != nil:
		events.add("response.created", map[string]any{"response": map[string]any{"id": "note", "status": "in_progress", "output": []any{}}})
		events.add("response.output_text.delta", map[string]any{"item_id": "note", "output_index": 0, "content_index": 0, "delta": modelWord})
		events.add("response.completed", map[string]any{"response": modelSays()})
	default:
		events.write(strings.TrimSpace(answer))
	}
	events.write("[DONE]")
	return events.content(known.status)
}

// events is the text of a stream of events.
type events struct{ strings.Builder }

// add writes an event. An event with a type repeats it in its data.
func (e *events) add(kind string, data map[string]any) {
	if kind != "" {
		e.WriteString("event: " + kind + "\n")
		data["type"] = kind
	}
	encoded, _ := json.Marshal(data) // no value here fails
	e.write(string(encoded))
}

func (e *events) write(data string) { e.WriteString("data: " + data + "\n\n") }

func (e *events) content(status int) content {
	return content{kind: "text/event-stream; charset=utf-8", body: e.String(), status: status}
}
