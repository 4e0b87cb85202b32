package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestPaths: what may become a path leads outside, each attempt to a file of its own, and what
// has to stand around it stays.
func TestPaths(t *testing.T) {
	of := report.Capability{Kind: report.CapabilityResourceTemplate, Name: "notes://{name}/text"}
	for name, tc := range map[string]struct {
		target        Target
		seen          []string
		first, second string
		fewer         int
	}{
		"by its name": {Target{Of: tool, Honest: json.RawMessage(`{"path":"a.md"}`)}, nil,
			"/var/tmp/marlow-elsewhere/N/note.md", inputs.Up + "var/tmp/marlow-elsewhere/N/note.md", 6},
		"by what was touched": {Target{Of: tool, Honest: json.RawMessage(`{"rule":"style","x":"y"}`)}, []string{"/srv/style.md"},
			"/var/tmp/marlow-elsewhere/N/note", inputs.Up + "var/tmp/marlow-elsewhere/N/note", 0},
		"a template": {Target{Of: of, Honest: json.RawMessage(`{"uri":"notes://a/text"}`)}, nil,
			"notes:///var/tmp/marlow-elsewhere/N/note.txt/text", "notes://" + inputs.Up + "var/tmp/marlow-elsewhere/N/note.txt/text", 6},
		"a URL of a file": {Target{Of: tool, Honest: json.RawMessage(`{"document":"file:///tmp/a"}`)}, nil,
			"file:///var/tmp/marlow-elsewhere/N/note.txt", "file://" + inputs.Up + "var/tmp/marlow-elsewhere/N/note.txt", 6},
		"with an ending of its own": {Target{Of: tool, Honest: json.RawMessage(`{"template":"invoice.html"}`)}, []string{"/srv/pages/invoice.html"},
			"/var/tmp/marlow-elsewhere/N/note.html", inputs.Up + "var/tmp/marlow-elsewhere/N/note.html", 0},
		"with an ending that no accepted call has": {Target{Of: tool, Honest: json.RawMessage(`{"path":"table.csv"}`)}, nil,
			"/var/tmp/marlow-elsewhere/N/note.txt", inputs.Up + "var/tmp/marlow-elsewhere/N/note.txt", 6},
		"a directory": {Target{Of: tool, Honest: json.RawMessage(`{"space":"team"}`)}, []string{"/srv/spaces/team/home.md"},
			"/var/tmp/marlow-elsewhere/N", inputs.Up + "var/tmp/marlow-elsewhere/N", 6},
		"a directory that was listed": {Target{Of: tool, Honest: json.RawMessage(`{"space":"team"}`)}, []string{"/srv/spaces/team/"},
			"/var/tmp/marlow-elsewhere/N", inputs.Up + "var/tmp/marlow-elsewhere/N", 0},
		"a name that is one of a directory, too": {Target{Of: tool, Honest: json.RawMessage(`{"rule":"style"}`)}, []string{"/srv/style/other.md", "/srv/style/style.md"},
			"/var/tmp/marlow-elsewhere/N/note", inputs.Up + "var/tmp/marlow-elsewhere/N/note", 0},
		"a pattern": {Target{Of: tool, Honest: json.RawMessage(`{"pattern":"js/*.js"}`)}, []string{"/srv/snippets/js/a.js"},
			"/var/tmp/marlow-elsewhere/N/note.txt", inputs.Up + "var/tmp/marlow-elsewhere/N/note.txt", 0},
		"a title in other letters and marks": {Target{Of: tool, Honest: json.RawMessage(`{"recipe":"Crêpes à l'œuf (2)"}`)}, []string{"/srv/Crêpes à l'œuf (2).txt"},
			"/var/tmp/marlow-elsewhere/N/note", inputs.Up + "var/tmp/marlow-elsewhere/N/note", 0},
		"an ending": {Target{Of: tool, Honest: json.RawMessage(`{"format":"md"}`)}, []string{"/srv/report.md"},
			"/var/tmp/marlow-elsewhere/N/note.txt", inputs.Up + "var/tmp/marlow-elsewhere/N/note.txt", 6},
		"a text": {Target{Of: tool, Honest: json.RawMessage(`{"text":"style"}`)}, []string{"/srv/other.md"}, "", "", 0},
	} {
		seen := Seen{Files: tc.seen}
		if dir, listed := strings.CutSuffix(strings.Join(tc.seen, ""), "/"); listed {
			seen.Files, seen.Listed = []string{dir}, []string{dir}
		}
		plan := Plan{Seen: map[report.Capability]Seen{tc.target.Of: seen}, Planted: []string{"note.html"}}
		s := plan.Against(tc.target)
		var led []string
		for call := 1; ; call++ {
			a, more := s.Next(inputs.Mark{Call: call})
			if !more {
				break
			}
			if a.Family == Path {
				led = append(led, strings.Replace(strings.Replace(a.Value, "/"+strconv.Itoa(a.File)+"/", "/N/", 1), "elsewhere/"+strconv.Itoa(a.File), "elsewhere/N", 1))
			}
		}
		if tc.first == "" && len(led) > 0 || tc.first != "" && (len(led) != len(pathForms)-1-tc.fewer || // a list only in place of a declared text
			led[0] != tc.first || led[1] != tc.second) {
			t.Errorf("%s: %q", name, led)
		}
	}
}

// TestPartOf: the name of a file contains a value only as a whole word.
func TestPartOf(t *testing.T) {
	for value, want := range map[string]bool{"md": true, "report": true, "2026": true, "port": false, "d": false, "x": false, "tmp": false} {
		if got := PartOf(value, "/tmp/my_report-2026.md"); got != want {
			t.Errorf("PartOf(%q) = %v, want %v", value, got, want)
		}
	}
}

// TestNear: beside the directory that an honest value lies in there are others, and in it a link.
func TestNear(t *testing.T) {
	for name, tc := range map[string]struct {
		honest, seen, sibling, beside, link string
	}{
		"relative": {"a.md", "/srv/notes/a.md", "../notes-marlow-elsewhere/9/note.md", "../marlow-elsewhere-beside/9/note.md", "marlow-elsewhere/9/note.md"},
		"absolute": {"/data/a.md", "/data/a.md", "/data-marlow-elsewhere/9/note.md", "/marlow-elsewhere-beside/9/note.md", "/data/marlow-elsewhere/9/note.md"},
	} {
		plan := Plan{Dirs: []string{"/data"}, Seen: map[report.Capability]Seen{tool: {Files: []string{tc.seen}}}}
		honest, err := json.Marshal(map[string]string{"path": tc.honest})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, step := range plan.Against(Target{Of: tool, Honest: honest}).steps {
			if step.form.near {
				got = append(got, step.form.write(step.field, inputs.Mark{}, 9))
			}
		}
		unmade := strings.NewReplacer("/note.md", "/new.md")
		if want := []string{tc.sibling, tc.beside, tc.link, strings.Replace(tc.link, "/9/note.md", "-9.md", 1), unmade.Replace(tc.sibling), unmade.Replace(tc.beside)}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if bases := plan.Bases(map[string]json.RawMessage{tool.Name: honest}); len(bases) != 1 || tc.sibling != "../notes-marlow-elsewhere/9/note.md" && bases[0] != "/data" {
			t.Errorf("%s: the directories are %q", name, bases)
		}
	}
}

// TestBeside: an archive that is unpacked into a directory is made to lead to a sibling of that, too.
func TestBeside(t *testing.T) {
	packed := inputs.Archives[0].Pack(1, nil)
	honest, err := json.Marshal(map[string]string{"theme": base64.StdEncoding.EncodeToString(packed)})
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Seen: map[report.Capability]Seen{tool: {Files: []string{"/srv/themes/note.txt"}}}}
	if bases := plan.Bases(map[string]json.RawMessage{tool.Name: honest}); !slices.Equal(bases, []string{"/srv/themes"}) {
		t.Errorf("the directories are %q", bases)
	}
	for _, a := range against(plan, Target{Of: tool, Honest: honest}) {
		raw, _ := base64.StdEncoding.DecodeString(a.Value)
		if a.Archive && bytes.Contains(raw, []byte("../themes-marlow-elsewhere/"+strconv.Itoa(a.File)+"/note.txt")) {
			return
		}
	}
	t.Error("no archive leads to the sibling")
}

// TestOutside: what attempts lead to is there by the names that guards ask for.
func TestOutside(t *testing.T) {
	other := report.Capability{Kind: report.CapabilityTool, Name: "other"}
	plan := Plan{Seen: map[report.Capability]Seen{
		tool:  {Files: []string{"/srv/pages/invoice.html", "/srv/spaces/team/home.md"}},
		other: {Files: []string{"/srv/rules/style.yaml", "/srv/a.txt"}},
	}}
	got := plan.Outside(map[string]json.RawMessage{
		tool.Name:  json.RawMessage(`{"template":"invoice.html","space":"team","title":"x","path":"../../a.html/.."}`),
		other.Name: json.RawMessage(`{"rule":"style","path":"a.txt","file":"b.!"}`),
	})
	slices.Sort(got)
	if want := []string{"home.md", "note.html", "note.yaml"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWithinTexts: what a text says in JSON, and the last name of several in one, are places of their own.
func TestWithinTexts(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"more":{"type":"string","description":"Separated by commas."}}}`)
	for honest, want := range map[string]string{
		`{"settings":"{\"host\":{\"name\":\"a\"},\"count\":1}"}`: `{"settings":"{\"count\":1,\"host\":{\"name\":\"a;./marlow-run-c`,
		`{"files":"a.md, b.md"}`:                                 `{"files":"a.md, b.md;./marlow-run-c`,
		`{"more":"a"}`:                                           `{"more":"a,a;./marlow-run-c`,
	} {
		plan := Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}
		s := plan.Against(Target{Of: tool, Schema: schema, Honest: json.RawMessage(honest)})
		found := false
		for call := 1; ; call++ {
			a, more := s.Next(inputs.Mark{Call: call})
			if !more {
				break
			}
			found = found || strings.HasPrefix(string(a.Arguments), want)
		}
		if !found {
			t.Errorf("%s: no attempt has arguments that begin with %s", honest, want)
		}
	}
}
