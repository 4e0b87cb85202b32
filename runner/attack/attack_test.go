package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

var tool = report.Capability{Kind: report.CapabilityTool, Name: "show"}

const showSchema = `{"type":"object","properties":{
	"branch":{"type":"string"},"pane":{"type":"integer"},"kind":{"enum":["a","b"],"type":"string"},
	"more":{"type":"object"},"note":{"type":"string"}}}`

// all are the attempts of a series that proves those of some calls.
func all(p Plan, honest string) (made []Attempt) {
	return against(p, Target{Of: tool, Schema: json.RawMessage(showSchema), Honest: json.RawMessage(honest)})
}

func against(p Plan, t Target) (made []Attempt) {
	s := p.Against(t)
	for call := 1; ; call++ {
		a, more := s.Next(inputs.Mark{Call: call})
		if !more {
			return made
		}
		made = append(made, a)
	}
}

const honest = `{"branch":"main","pane":1,"kind":"a","more":{"labels":["x<y"]}}`

// TestAttempts: one value is changed at a time, whatever its type, and the honest one is kept.
func TestAttempts(t *testing.T) {
	made := all(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, honest)
	fields := map[string]int{}
	for _, a := range made {
		if a.Family != Command {
			continue
		}
		fields[a.Field]++
		if n := strings.Count(string(a.Arguments), "marlow-run-c"); n != strings.Count(a.Value, "marlow-run-c") || n == 0 {
			t.Errorf("%s has %d commands, and its value %q others", a.Arguments, n, a.Value)
		}
		if a.Field == "branch" && !a.Control && !strings.Contains(a.Value, "main") {
			t.Errorf("%q does not keep the honest value", a.Value)
		}
		if a.Control != (a.Value == inputs.Mark{Call: a.Call}.Command()) {
			t.Errorf("%q is a control: %v", a.Value, a.Control)
		}
	}
	for field, least := range map[string]int{"branch": 15, "note": 15, "pane": 3, "kind": 3, "more.labels[0]": 15} {
		if fields[field] < least {
			t.Errorf("%d attempts at %s: %v", fields[field], field, fields)
		}
	}
	if !slices.ContainsFunc(made, func(a Attempt) bool {
		return strings.HasPrefix(string(a.Arguments), `{"branch":"main;./marlow-run-c`)
	}) {
		t.Error("nothing stands behind a semicolon")
	}
	again := all(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, honest)
	if !slices.EqualFunc(made, again, func(a, b Attempt) bool { return string(a.Arguments) == string(b.Arguments) }) {
		t.Error("the attempts differ the second time")
	}
}

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
		if tc.first == "" && len(led) > 0 || tc.first != "" && (len(led) != len(pathForms)-tc.fewer || led[0] != tc.first || led[1] != tc.second) {
			t.Errorf("%s: %q", name, led)
		}
	}
}

// TestDecoded: an encoded command is the plain one for a server that decodes it, and has no character that its guard looks for.
func TestDecoded(t *testing.T) {
	decoded := map[string]func(string) string{
		"percent-encoded":       func(s string) string { plain, _ := url.PathUnescape(s); return plain },
		"in references of HTML": html.UnescapeString,
		"in escapes of Unicode": func(s string) string { plain, _ := strconv.Unquote(`"` + s + `"`); return plain },
	}
	for _, a := range all(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, honest) {
		_, how, _ := strings.Cut(a.Form, "single quote, ")
		decode := decoded[how]
		if decode == nil || a.Field != "branch" {
			continue
		}
		delete(decoded, how)
		command := inputs.Mark{Call: a.Call}.Command()
		if want := "main$(" + command + ")';" + command + ";:'"; decode(a.Value) != want || strings.ContainsAny(a.Value, "$'()`|") {
			t.Errorf("%s: %q is %q, want %q", how, a.Value, decode(a.Value), want)
		}
	}
	if len(decoded) > 0 {
		t.Errorf("not tried: %v", slices.Sorted(maps.Keys(decoded)))
	}
}

// TestPartOf: a value is a part of the name of a file if it is one of its words.
func TestPartOf(t *testing.T) {
	for value, want := range map[string]bool{"md": true, "report": true, "2026": true, "port": false, "d": false, "x": false, "tmp": false} {
		if got := PartOf(value, "/tmp/my_report-2026.md"); got != want {
			t.Errorf("PartOf(%q) = %v, want %v", value, got, want)
		}
	}
}

// TestBounded: what has shown no program is tried little, and what has succeeded no more.
func TestBounded(t *testing.T) {
	if n := len(all(Plan{}, honest)); n == 0 || n > maxAttempts+maxCode {
		t.Errorf("%d attempts against what runs nothing", n)
	}
	wide := map[string]string{}
	for i := range 64 {
		wide[strings.Repeat("x", i+1)] = "y"
	}
	many, err := json.Marshal(wide)
	if err != nil {
		t.Fatal(err)
	}
	relevant := map[report.Capability]Seen{tool: {Programs: true}}
	if n := len(all(Plan{Seen: relevant}, string(many))); n > maxRelevant+maxCode+maxMarkup+len(optionForms)*maxFields {
		t.Errorf("%d attempts against many fields", n)
	}
	proven := all(Plan{Seen: relevant, Proven: func(int) bool { return true }}, honest)
	for _, field := range []string{"branch", "note", "pane"} {
		tried := slices.DeleteFunc(slices.Clone(proven), func(a Attempt) bool { return a.Family != Command || a.Field != field || a.Control })
		if len(tried) != 1 {
			t.Errorf("%d attempts at %s, of which the first succeeded", len(tried), field)
		}
	}
}

// FuzzAgainst: whatever stands in a schema and in arguments, an attempt is JSON.
func FuzzAgainst(f *testing.F) {
	f.Add(showSchema, honest)
	f.Add(`{"properties":{"a":{"type":["string","null"]},"":7}}`, `{"":"x","a":[[[[["b"]]]]]}`)
	f.Add(`[]`, `"x"`)
	f.Fuzz(func(t *testing.T, schema, honest string) {
		s := Plan{}.Against(Target{Of: tool, Schema: json.RawMessage(schema), Honest: json.RawMessage(honest)})
		for call := range 4 * maxRelevant {
			a, more := s.Next(inputs.Mark{Call: call})
			if !more {
				return
			}
			if !json.Valid(a.Arguments) {
				t.Fatalf("%s is no JSON", a.Arguments)
			}
		}
		t.Fatal("it does not end")
	})
}

// TestPlaces: optional places are tried below the ones that hold them, whatever says what they are,
// and each variable of a template.
func TestPlaces(t *testing.T) {
	relevant := Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}
	declared := `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"$ref":"#/$defs/B"},"c":{"type":["array","null"],"items":{"type":"string"}}},
		"$defs":{"B":{"type":"object","properties":{"d":{"type":"integer"},"b":{"$ref":"#/$defs/B"}}}}}`
	got := map[string]string{}
	s := relevant.Against(Target{Of: tool, Schema: json.RawMessage(declared), Honest: json.RawMessage(`{"c":[null]}`)})
	for call := 1; ; call++ {
		a, more := s.Next(inputs.Mark{Call: call})
		if !more {
			break
		}
		got[a.Field] = strings.TrimSuffix(strings.Replace(string(a.Arguments), `,"c":[null]`, "", 1), " ")
	}
	for field, begin := range map[string]string{"a": `{"a":"`, "b.d": `{"b":{"d":"`, "b.b.d": `{"b":{"b":{"d":"`, "c[0]": `{"c":["`} {
		if !strings.HasPrefix(got[field], begin) {
			t.Errorf("%s: %s", field, got[field])
		}
	}
	fields := fieldsOf(Target{Of: report.Capability{Kind: report.CapabilityResourceTemplate, Name: "git://{repo}/log/{name}{?n}"},
		Honest: json.RawMessage(`{"uri":"git://notes/log/main?n=1"}`)}, Seen{}, nil)
	if len(fields) != 2 || fields[0].core() != "notes" || fields[1].core() != "main" || fields[1].behind != "?n=1" {
		t.Errorf("the variables are %+v", fields)
	}
}

// TestRunners: programs that run others are tried where a command is taken and they are spoken of.
func TestRunners(t *testing.T) {
	for said, want := range map[string][]string{
		"only ls, find and git": {"find . -maxdepth 0 -exec ./marlow-run-c7 {} +", "git -c 'alias.marlow=!./marlow-run-c7' marlow"},
		"only ls":               nil,
	} {
		var got []string
		for _, step := range runnerSteps(fieldsOf(Target{Of: tool, Honest: json.RawMessage(`{"command":"ls","note":"find"}`)}, Seen{}, nil), said) {
			if step.field.name == "command" {
				got = append(got, step.form.write(step.field, inputs.Mark{Call: 7}, 0))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", said, got)
		}
	}
}

// TestListedRunners: the arguments of such a program are a list beside its name.
func TestListedRunners(t *testing.T) {
	schema := `{"properties":{"run":{"type":"object","properties":{"program":{"enum":["ls","find","git"],"type":"string"},"args":{"type":"array","items":{"type":"string"}}}}}}`
	want := []string{
		`{"run":{"args":[".","-maxdepth","0","-exec","./marlow-run-cN","{}","+"],"program":"find"}}`,
		`{"run":{"args":["-c","alias.marlow=!./marlow-run-cN","marlow"],"program":"git"}}`,
	}
	for _, honest := range []string{`{"run":{"program":"ls","args":["-l"]}}`, `{"run":{"program":"ls"}}`} {
		var got []string
		for _, a := range against(Plan{}, Target{Of: tool, Schema: json.RawMessage(schema), Honest: json.RawMessage(honest), Said: schema}) {
			if a.Listed {
				got = append(got, strings.ReplaceAll(string(a.Arguments), "-c"+strconv.Itoa(a.Call), "-cN"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", honest, got)
		}
	}
}

// TestEnvironmentLists: a list of variables has those that programs obey.
func TestEnvironmentLists(t *testing.T) {
	schema := `{"properties":{"env":{"type":["null","array"],"items":{"type":"string"},"description":"NAME=VALUE, e.g. LANG=C"},"target":{"type":"string"}}}`
	for _, honest := range []string{`{"target":"all","env":["LANG=C"]}`, `{"target":"all"}`} {
		made := against(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, Target{Of: tool, Schema: json.RawMessage(schema), Honest: json.RawMessage(honest)})
		if !slices.ContainsFunc(made, func(a Attempt) bool {
			return strings.HasPrefix(string(a.Arguments), `{"env":["BASH_ENV=$(./marlow-run-c`)
		}) {
			t.Errorf("%s: no variable that a shell obeys", honest)
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
	packed := inputs.Archives[0].Pack(1)
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

// TestKept: some payloads of options and of code keep the honest value, for guards that look for it.
func TestKept(t *testing.T) {
	kept := map[Family]string{Option: `^--marlow-c\d+=https://x\.test/a$`, Code: `^https://x\.test/a,import\("fs"\)`}
	for _, a := range all(Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}}, `{"url":"https://x.test/a b"}`) {
		if pattern := kept[a.Family]; pattern != "" && a.Field == "url" && regexp.MustCompile(strings.Replace(pattern, "a,", "a b,", 1)).MatchString(a.Value) {
			delete(kept, a.Family)
		}
	}
	if len(kept) > 0 {
		t.Errorf("no attempt is like %q", kept)
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

// TestRoutes: a path of a request is led to another host, unless it may be a whole URL, or a file.
func TestRoutes(t *testing.T) {
	for said, want := range map[string]int{"The path.": len(routeForms), "The path or URL.": 0} {
		made := partSteps([]field{{name: "path", value: "/v1/items", text: true, said: said}}, Seen{Network: true})
		if len(made) != want {
			t.Errorf("%s: %d attempts, want %d", said, len(made), want)
		}
	}
	if made := partSteps([]field{{name: "path", value: "/srv/a", text: true}}, Seen{Network: true, Files: []string{"/srv/a"}}); made != nil {
		t.Errorf("a file is taken for a path of a request: %+v", made)
	}
}

// TestRows: a statement that reads a table has rows added to that, the plain one first.
func TestRows(t *testing.T) {
	steps := writeSteps([]field{{name: "sql", value: "SELECT * FROM goods WHERE id = 1", text: true}, {name: "other_sql", value: "SELECT 1", text: true}})
	if want := 2*len(writeForms) + len(rowForms); len(steps) != want {
		t.Fatalf("%d attempts, want %d", len(steps), want)
	}
	first := steps[2*len(writeForms)]
	if got := first.form.write(first.field, inputs.Mark{Call: 7}, 0); got != "INSERT INTO goods (rowid) SELECT 1900000007 WHERE 'marlow-c7' <> ''" || !first.form.control {
		t.Errorf("%q, a control: %v", got, first.form.control)
	}
}

// TestPromises: an unhandled rejection ends Node.js, and no further attempt would reach the tool.
func TestPromises(t *testing.T) {
	for _, form := range codeForms {
		text := form.write(field{}, inputs.Mark{Call: 1}, 1)
		if strings.Contains(text, "import(") && !strings.Contains(text, ".catch(") {
			t.Errorf("%s: %s", form.name, text)
		}
	}
}
