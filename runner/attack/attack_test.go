package attack

import (
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
		"only ls, find and git": {"find . -maxdepth 0 -exec ./marlow-run-c7 {} +", "git -c 'alias.st=!./marlow-run-c7' st"},
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
		`{"run":{"args":["-c","alias.st=!./marlow-run-cN","st"],"program":"git"}}`,
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
