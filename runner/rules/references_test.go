package rules

import (
	"net/url"
	"testing"
)

// Whoever cites an entry of another catalogue has it from there.
func TestReferences(t *testing.T) {
	for _, r := range All() {
		for _, id := range r.References {
			if _, ok := LookUp(id); !ok {
				t.Errorf("%s refers to %s, which is not in catalogue.yaml", r.ID, id)
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range References() {
		found, _ := LookUp(r.ID)
		at, err := url.Parse(found.URL)
		if err != nil || at.Scheme != "https" || found.Title == "" || seen[r.ID] {
			t.Errorf("%+v, %v", found, err)
		}
		seen[r.ID] = true
	}
}
