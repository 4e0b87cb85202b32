package sinkhole

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/poison"
)

// What the sinkhole answers comes back in results: no rule about texts may find
// anything in it.
func TestWordsAreHarmless(t *testing.T) {
	bodies := []string{bodyJSON, bodyHTML, bodyXML, bodyText}
	for form := range forms {
		body, err := json.Marshal(asked{url: "https://api.example/notes"}.reply(form, nil))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	for _, body := range bodies {
		if found := poison.Inject(body); len(found) > 0 {
			t.Errorf("%q instructs: %+v", body, found)
		}
		for _, way := range poison.Ways {
			if found := poison.Hide(body, poison.Answered, way); len(found) > 0 {
				t.Errorf("%q hides: %+v", body, found)
			}
		}
	}
}

// Node.js has no name for what a call returned.
func TestWordedList(t *testing.T) {
	found := worded("TypeError: (intermediate value).filter is not a function")
	if len(found) != 1 || found[0] != (field{kind: "array"}) {
		t.Errorf("%+v", found)
	}
}
