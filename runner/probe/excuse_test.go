package probe

import (
	"encoding/json"
	"testing"
)

// TestExcuses: a result that reports a failure is one; a result that finds nothing, or mentions errors, is not.
func TestExcuses(t *testing.T) {
	for text, want := range map[string]bool{
		"Error firing clip: Could not connect to the application.": true,
		`Device "limit" not found. Use list_devices.`:              true,
		"❌ Failed to open the file":                                true,
		`{"success": false, "reason": "closed"}`:                   true,
		`{"error": "no connection"}`:                               true,
		"Research Error: No request_id returned":                   true,
		"No notes found":                                           false,
		"Errors: 0":                                                false,
		`{"error": "", "notes": []}`:                               false,
		`{"success": true}`:                                        false,
		"Last week's errors: none":                                 false,
		"The log has one line: Error: disk full":                   false,
	} {
		result, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := (reply{accepted: true, result: result}).excuse() != ""; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestExcusesAreNotAccepted: a tool that only says that it failed was not exercised; a resource may be about a failure.
func TestExcusesAreNotAccepted(t *testing.T) {
	const failed = "Error: could not connect to the database"
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}}}
		},
		"tools/call": func(*fake, map[string]any) any { return content(failed) },
		"resources/list": func(*fake, map[string]any) any {
			return map[string]any{"resources": []any{map[string]any{"uri": "log://a", "name": "a"}}}
		},
		"resources/templates/list": func(*fake, map[string]any) any { return map[string]any{"resourceTemplates": []any{}} },
		"resources/read": func(*fake, map[string]any) any {
			return map[string]any{"contents": []any{map[string]any{"uri": "log://a", "text": failed}}}
		},
	}}
	r := f.probe(t, quick)
	if c := r.Coverage; c.Tools.Called != 1 || c.Tools.Accepted != 0 || c.Resources.Accepted != 1 || len(r.Accepted) != 1 {
		t.Errorf("%+v, arguments for later launches: %d", c, len(r.Accepted))
	}
	if row := r.Exercise[0]; row.Calls.Done != 0 || row.Calls.Total == 0 {
		t.Errorf("%+v", row)
	}
}
