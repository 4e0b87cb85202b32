package sinkhole

import "testing"

// TestGuess: the name of a field says what it holds. A host that an API names is the API's own, because its client sends
// its key there.
func TestGuess(t *testing.T) {
	for name, want := range map[string]any{
		"host": "api.corp.example", "indexHost": "api.corp.example", "custom_domain": "api.corp.example", "web_url": "https://api.corp.example/v1/indexes",
		"ghost": "note", "total_count": 1, "is_ready": true, "owner_id": "1", "created_at": moment, "next_cursor": nil,
	} {
		if got := guess(name, "https://api.corp.example/v1/indexes"); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
