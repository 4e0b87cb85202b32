package attack

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestMarkup: who takes a document is tried with some that have a file outside in them.
func TestMarkup(t *testing.T) {
	for said, want := range map[string]int{"HTML of the report": len(markupForms), "Text of the note": 0} {
		schema, err := json.Marshal(map[string]any{"properties": map[string]any{"report": map[string]string{"type": "string", "description": said}}})
		if err != nil {
			t.Fatal(err)
		}
		led := map[int]bool{}
		for _, a := range against(Plan{}, Target{Of: tool, Schema: schema, Honest: json.RawMessage(`{"report":"hello"}`)}) {
			if a.Markup {
				led[a.File] = strings.Contains(a.Value, "marlow-elsewhere/"+strconv.Itoa(a.File)+"/note.txt") && !strings.Contains(a.Value, "PATH")
			}
		}
		if len(led) != want || slices.Contains(slices.Collect(maps.Values(led)), false) {
			t.Errorf("%s: %v", said, led)
		}
	}
}

// TestKeyedCommands: the keys of an object that takes any are tried, too.
func TestKeyedCommands(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"variables":{"type":"object","additionalProperties":{"type":"string"}}}}`)
	made := against(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, Target{Of: tool, Schema: schema, Honest: json.RawMessage(`{"variables":{"region":"eu"}}`)})
	if !slices.ContainsFunc(made, func(a Attempt) bool {
		return a.Family == Command && strings.Contains(string(a.Arguments), `;":"eu"`) && strings.Contains(string(a.Arguments), "marlow-run-c")
	}) {
		t.Error("no key holds a command")
	}
}

// TestJoinedTo: a path was joined to a directory, or a pattern led to a file in it.
func TestJoinedTo(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"a.md", "/srv/notes/a.md"}:              "/srv/notes",
		{"js/a.js", "/srv/notes/js/a.js"}:        "/srv/notes",
		{"js/*.js", "/srv/notes/js/a.js"}:        "/srv/notes",
		{"**/*.md", "/srv/notes/guide/setup.md"}: "/srv/notes",
		{"*.js", "/srv/notes/a.md"}:              "",
		{"*/*/*/*.md", "/notes/a.md"}:            "",
		{"/a.md", "/srv//a.md"}:                  "",
		{"[*", "/srv/a.md"}:                      "",
	} {
		if got := JoinedTo(in[0], in[1]); got != want {
			t.Errorf("%q of %q: %q", in[0], in[1], got)
		}
	}
}
