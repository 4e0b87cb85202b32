package probe

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestFavourite: before any other, one tool is called with texts that differ.
func TestFavourite(t *testing.T) {
	var names, texts []string
	tool := func(name string) map[string]any {
		return map[string]any{"name": name, "description": "Trims.", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"note": map[string]any{"type": "string"}}}}
	}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return map[string]any{"tools": []any{tool("a"), tool("b")}} },
		"tools/call": func(_ *fake, params map[string]any) any {
			arguments, _ := params["arguments"].(map[string]any)
			name, _ := params["name"].(string)
			text, _ := arguments["note"].(string)
			names, texts = append(names, name), append(texts, text)
			return content("done")
		},
	}}
	o := quick
	o.Favourite, o.Given = 2, map[string]json.RawMessage{"a": json.RawMessage(`{"note": "a note about tea"}`), "b": json.RawMessage(`{"note": "a note about milk"}`)}
	f.probe(t, o)
	first := slices.Compact(slices.Sorted(slices.Values(texts[:favoured])))
	if i := slices.Index(names, "a"); i < favoured || len(first) != favoured || slices.Contains(names[:favoured], "a") {
		t.Errorf("%v, %v", names, texts)
	}
	names, texts = nil, nil
	o.Chosen = map[string]json.RawMessage{"a": o.Given["a"], "b": o.Given["b"]}
	if f.probe(t, o); slices.ContainsFunc(texts, func(text string) bool { return text != "a note about tea" && text != "a note about milk" }) {
		t.Errorf("the operator's arguments were replaced: %q", texts)
	}
}
