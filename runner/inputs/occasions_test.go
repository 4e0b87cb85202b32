package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestVaried: ordinary sentences become other texts, which carry the mark of the call; all else stays.
func TestVaried(t *testing.T) {
	m := Mark{Call: 7}
	arguments, _ := json.Marshal(map[string]any{"id": 12, "path": "/tmp/" + m.File(), "notes": []string{m.Text(), Mark{Plain: true}.Text()}})
	known := map[string]bool{}
	for n := range 2 * len(occasions) {
		varied, ok := Varied(arguments, n, m)
		var got struct {
			ID    int
			Path  string
			Notes []string
		}
		if err := json.Unmarshal(varied, &got); !ok || err != nil || got.ID != 12 || got.Path != "/tmp/"+m.File() {
			t.Fatalf("text %d: %s, %t, %v", n, varied, ok, err)
		}
		if known[got.Notes[0]] {
			t.Errorf("text %d is not another one: %s", n, got.Notes[0])
		}
		known[got.Notes[0]] = true
		for _, note := range got.Notes {
			if sentences.MatchString(note) || !strings.Contains(note, m.ID()) {
				t.Errorf("text %d has no mark: %.80s", n, note)
			}
		}
	}
	if _, ok := Varied(json.RawMessage(`{"path": "/tmp/x"}`), 0, m); ok {
		t.Error("nothing is to be varied")
	}
}
