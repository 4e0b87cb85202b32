package attack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestDispatch: the name of a function gets one that runs a text, and the argument beside it that text.
func TestDispatch(t *testing.T) {
	const schema = `{"properties":{"fn":{"type":"string","description":"The helper to call."}}}`
	for name, tc := range map[string]struct{ honest, want string }{
		"a text beside":         {`{"fn":"text.upper","value":"x"}`, `{"fn":"constructor.constructor","value":"return process.`},
		"a list beside":         {`{"args":["x"],"fn":"text.upper"}`, `{"args":["return process.`},
		"behind the value":      {`{"fn":"text.upper","value":"x"}`, `{"fn":"text.upper.constructor","value":"return process.`},
		"a command":             {`{"fn":"text.upper","value":"x"}`, `{"fn":"os.system","value":"./marlow-run-c`},
		"code beside":           {`{"code":"x","fn":"text.upper"}`, ""},
		"no name of a function": {`{"fn":"two words","value":"x"}`, ""},
		"nothing beside":        {`{"fn":"text.upper"}`, ""},
		"another sort of name":  {`{"name":"text.upper","value":"x"}`, ""},
	} {
		made := against(Plan{}, Target{Of: tool, Schema: json.RawMessage(schema), Honest: json.RawMessage(tc.honest)})
		paired := slices.DeleteFunc(made, func(a Attempt) bool { return !strings.HasPrefix(a.Form, "as the name of a function") })
		tried := slices.ContainsFunc(paired, func(a Attempt) bool { return tc.want != "" && strings.HasPrefix(string(a.Arguments), tc.want) })
		if tried != (tc.want != "") || tc.want == "" && len(paired) > 0 || len(paired) > maxDispatched*len(dispatched) {
			t.Errorf("%s: %d attempts, %v", name, len(paired), tried)
		}
	}
	if len(dispatched) > maxFunctions {
		t.Errorf("%d names of functions, more than %d", len(dispatched), maxFunctions)
	}
}

// TestVariableBeside: a variable of the environment may come as a name and a value.
func TestVariableBeside(t *testing.T) {
	for name, tc := range map[string]struct {
		said, honest string
		want         bool
	}{
		"a variable": {"Sets a variable of the environment.", `{"name":"LANG","value":"C"}`, true},
		"a setting":  {"Sets a setting.", `{"name":"LANG","value":"C"}`, false},
		"no value":   {"Sets a variable of the environment.", `{"name":"LANG"}`, false},
		"no name":    {"Sets a variable of the environment.", `{"name":"a/b","value":"C"}`, false},
		"a command":  {"Runs with a variable of the environment.", `{"command":"ls","name":"LANG","value":"C"}`, false},
	} {
		made := against(Plan{}, Target{Of: tool, Said: tc.said, Honest: json.RawMessage(tc.honest)})
		if got := slices.ContainsFunc(made, func(a Attempt) bool {
			return a.Family == Command && strings.HasPrefix(string(a.Arguments), `{"name":"GIT_SSH_COMMAND","value":"./marlow-run-c`)
		}); got != tc.want {
			t.Errorf("%s: tried is %v", name, got)
		}
	}
}

// TestInList: a list with the payload stands where the schema has a text, and nothing else.
func TestInList(t *testing.T) {
	made := against(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, Target{Of: tool, Honest: json.RawMessage(`{"any":"a","path":"b"}`),
		Schema: json.RawMessage(`{"properties":{"path":{"type":"string"},"any":{"type":["string","array"]}}}`)})
	listed := map[Family]int{}
	for _, a := range made {
		if strings.Contains(a.Form, "in a list in place of a text") {
			listed[a.Family]++
			if !strings.Contains(string(a.Arguments), `"path":["`) || !strings.Contains(string(a.Arguments), `"any":"a"`) {
				t.Errorf("%s: %s", a.Form, a.Arguments)
			}
		}
	}
	if listed[Command] != 1 || listed[Path] != 1 {
		t.Errorf("tried %v", listed)
	}
}

// TestMentioned: the name of a file that a page includes leads outside, and the rest of the page stays.
func TestMentioned(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		files []string
		want  string
	}{
		"an included file":     {"Hello {{include a.txt}}", []string{"/srv/notes/a.txt"}, "Hello {{include /var/tmp/marlow-elsewhere/"},
		"a file not opened":    {"Hello {{include a.txt}}", []string{"/srv/notes/b.txt"}, ""},
		"a URL":                {"https://example.com/a.txt", []string{"/srv/notes/a.txt"}, ""},
		"a title of a file":    {"My Trip", []string{"/srv/notes/my-trip.md"}, "/var/tmp/marlow-elsewhere/"},
		"a title of no file":   {"My Trip", []string{"/srv/notes/other.md"}, ""},
		"a page without files": {"Hello", []string{"/srv/notes/a.txt"}, ""},
	} {
		honest, _ := json.Marshal(map[string]string{"page": tc.text})
		made := against(Plan{Seen: map[report.Capability]Seen{tool: {Files: tc.files}}}, Target{Of: tool, Honest: honest})
		if got := slices.ContainsFunc(made, func(a Attempt) bool {
			return a.Family == Path && strings.HasPrefix(a.Value, tc.want) && a.Form == "as an absolute path"
		}); got != (tc.want != "") {
			t.Errorf("%s: tried is %v", name, got)
		}
	}
}

// TestDownloaded: a server that downloads a file gets one with a name that leads outside, from the same host, and an archive where
// it asks for one.
func TestDownloaded(t *testing.T) {
	for value, want := range map[string]int{
		"https://files.example.com/a/notes.zip": 2 + len(inputs.Archives),
		"https://files.example.com/a":           2,
		"a.zip":                                 0,
	} {
		made := against(Plan{}, Target{Of: tool, Honest: json.RawMessage(`{"from":"` + value + `"}`)})
		made = slices.DeleteFunc(made, func(a Attempt) bool { return !a.Archive })
		elsewhere := slices.ContainsFunc(made, func(a Attempt) bool {
			return !strings.HasPrefix(a.Value, "https://files.example.com/") || a.Family != Path
		})
		if len(made) != want || elsewhere || want > 0 && made[0].Value != "https://files.example.com"+inputs.EncodedPath(made[0].File) {
			t.Errorf("%s: %d attempts, the first %v", value, len(made), made)
		}
	}
}

// TestNamed: a key that is the name of a file leads outside, and its value stays.
func TestNamed(t *testing.T) {
	for file, want := range map[string]bool{"/srv/notes/a.md": true, "/srv/notes/b.md": false} {
		made := against(Plan{Seen: map[report.Capability]Seen{tool: {Files: []string{file}}}}, Target{Of: tool, Honest: json.RawMessage(`{"files":{"a.md":"text"}}`)})
		if got := slices.ContainsFunc(made, func(a Attempt) bool {
			return a.Family == Path && strings.HasPrefix(string(a.Arguments), `{"files":{"../../`) && strings.HasSuffix(string(a.Arguments), `/note.md":"text","a.md":"text"}}`) && a.Honest == "a.md"
		}); got != want {
			t.Errorf("%s: tried is %v", file, got)
		}
	}
}

// TestMentionedReached: a call whose text names a file that was opened came further than one whose text does not.
func TestMentionedReached(t *testing.T) {
	seen := Seen{Files: []string{"/srv/notes/a.txt"}}
	far, near := seen.Reached(json.RawMessage(`{"page":"See {{note a.txt}}"}`)), seen.Reached(json.RawMessage(`{"page":"a longer text without one"}`))
	if far <= 0 || near > 0 {
		t.Errorf("%d with a file, %d without", far, near)
	}
}
