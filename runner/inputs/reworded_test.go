package inputs

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReworded: each made-up sentence becomes another one that is no longer, and all else stays.
func TestReworded(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	drawn := map[string]bool{}
	for seed := range int64(len(subjects)) {
		for call := range 50 {
			marked, plain := Mark{Seed: seed, Call: call}, Mark{Seed: seed, Plain: true}
			given, _ := json.Marshal(map[string]any{"notes": []string{marked.Text(), plain.Text()}, "path": "/tmp/" + marked.File(), "id": marked.ID()})
			var got struct {
				Notes    []string
				Path, ID string
			}
			if err := json.Unmarshal(Reworded(map[string]json.RawMessage{"t": given}, draw)["t"], &got); err != nil {
				t.Fatal(err)
			}
			if got.Path != "/tmp/"+marked.File() || got.ID != marked.ID() || len(got.Notes) != 2 {
				t.Errorf("%+v", got)
			}
			for i, old := range []string{marked.Text(), plain.Text()} {
				if note := got.Notes[i]; note == old || strings.Contains(note, Word) || len(note) > len(old) {
					t.Errorf("%q became %q", old, note)
				}
				drawn[got.Notes[i]] = true
			}
		}
	}
	if len(drawn) < 400 {
		t.Errorf("only %d sentences", len(drawn))
	}
}
