package attack

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestUses: a tool uses what another keeps if a text of the other's call turns up in what it does, and in its
// own call there is none.
func TestUses(t *testing.T) {
	user := report.Capability{Kind: report.CapabilityTool, Name: "build"}
	target := func(of report.Capability, honest string) Target {
		return Target{Of: of, Honest: json.RawMessage(honest)}
	}
	for name, tc := range map[string]struct {
		keeps, uses string
		seen, own   Seen
		want        bool
	}{
		"in a program's words":  {`{"flags":"-O2"}`, `{}`, Seen{Started: [][]string{{"sh", "-c", "make CFLAGS=\"-O2\""}}}, Seen{}, true},
		"as a file":             {`{"title":"groceries"}`, `{}`, Seen{Files: []string{"/tmp/exported/groceries.md"}}, Seen{}, true},
		"of its own call":       {`{"name":"debug"}`, `{"profile":"debug"}`, Seen{Started: [][]string{{"make", "debug"}}}, Seen{}, false},
		"of both":               {`{"name":"a.txt"}`, `{}`, Seen{Files: []string{"/tmp/a.txt"}}, Seen{Files: []string{"/tmp/a.txt"}}, false},
		"too short":             {`{"flags":"-O"}`, `{}`, Seen{Started: [][]string{{"make", "-O"}}}, Seen{}, false},
		"in a part of a name":   {`{"title":"read"}`, `{}`, Seen{Files: []string{"/srv/readme.md"}}, Seen{}, false},
		"by whoever does a lot": {`{"title":"groceries"}`, `{}`, Seen{}, Seen{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan{Seen: map[report.Capability]Seen{user: tc.seen, tool: tc.own}}
			if got := p.Uses(target(user, tc.uses), target(tool, tc.keeps)); got != tc.want {
				t.Errorf("Uses = %v, want %v", got, tc.want)
			}
		})
	}
}

// TestShares: an id under which a target stores something is passed on to its user, unless it is attacked.
func TestShares(t *testing.T) {
	for name, tc := range map[string]struct{ user, target, attacked, want string }{
		"an id":                  {`{"id":"b","to":["ada"]}`, `{"id":"a","body":"x"}`, "", `{"id":"a","to":["ada"]}`},
		"an id in an object":     {`{"id":"b"}`, `{"note":{"id":"a","body":"x"}}`, "note.body", `{"id":"a"}`},
		"the attacked id":        {`{"id":"b"}`, `{"id":"a","body":"x"}`, "id", ""},
		"nothing else is stored": {`{"id":"b"}`, `{"id":"a"}`, "", ""},
		"no name in common":      {`{"page":"b"}`, `{"id":"a","body":"x"}`, "", ""},
		"no arguments":           {`{}`, `{"id":"a","body":"x"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Shares(json.RawMessage(tc.user), json.RawMessage(tc.target), tc.attacked)
			if ok != (tc.want != "") || ok && string(got) != tc.want {
				t.Errorf("Shares = %s, %v, want %q", got, ok, tc.want)
			}
		})
	}
}

// TestFollows: the name that a target gives to something in the directory of its user's file is passed on.
func TestFollows(t *testing.T) {
	reader := report.Capability{Kind: report.CapabilityTool, Name: "read"}
	for name, tc := range map[string]struct {
		made           []string
		attacked, want string
	}{
		"a link in the same directory": {[]string{"/srv/assets/brand.svg"}, "asset", `{"name":"brand.svg"}`},
		"the attacked name":            {[]string{"/srv/assets/brand.svg"}, "alias", ""},
		"in another directory":         {[]string{"/srv/links/brand.svg"}, "asset", ""},
		"nothing that was touched":     {nil, "asset", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan{Seen: map[report.Capability]Seen{tool: {Files: tc.made}, reader: {Files: []string{"/srv/assets/logo.svg"}}}}
			got, ok := p.Follows(Target{Of: reader, Honest: json.RawMessage(`{"name":"logo.svg"}`)}, Target{Of: tool, Honest: json.RawMessage(`{"alias":"brand.svg","asset":"logo.svg"}`)}, tc.attacked)
			if ok != (tc.want != "") || ok && string(got) != tc.want {
				t.Errorf("Follows = %s, %v, want %q", got, ok, tc.want)
			}
		})
	}
}

// TestNotation: a description that shows a placeholder has the expressions in one tried first.
func TestNotation(t *testing.T) {
	fields := fieldsOf(Target{Of: tool, Schema: json.RawMessage(`{"properties":{"body":{"type":"string","description":"Text with <%= name %>"}}}`), Honest: json.RawMessage(`{"body":"Hello"}`)}, Seen{}, nil)
	if got := codeSteps(fields)[0].form.name; got != "in a template of EJS" {
		t.Errorf("first comes the form %s", got)
	}
	fields = fieldsOf(Target{Of: tool, Schema: json.RawMessage(`{"properties":{"label":{"type":"string","description":"Text with {% if done %}"}}}`), Honest: json.RawMessage(`{"label":"ready"}`)}, Seen{}, nil)
	if got := codeSteps(fields)[0].form.name; got != "in a statement of Jinja" {
		t.Errorf("first comes the form %s", got)
	}
}
