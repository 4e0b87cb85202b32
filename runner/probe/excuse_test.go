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
		"No notes found":                                           false,
		"Errors: 0":                                                false,
		`{"error": "", "notes": []}`:                               false,
		`{"success": true}`:                                        false,
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
