package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// What an error says of a value, the next call does.
func TestRefusalsAreLessons(t *testing.T) {
	for name, tc := range map[string]struct{ tool, property, refusal, want string }{
		"an ending":  {"read_range", "path", "Path '%s' must point to an Excel file (.xlsm, .xlsx).", "/home/audit/mcpaudit-files/notes.xlsx"},
		"not there":  {"add_row", "path", "File %s does not exist.", "/home/audit/mcpaudit-files/note.txt"},
		"ENOENT":     {"write_cell", "path", "ENOENT: no such file or directory, open '%s'", "/home/audit/mcpaudit-files/note.txt"},
		"there":      {"get_output", "path", "%s already exists", "/home/audit/mcpaudit-c1-note.txt"},
		"elsewhere":  {"stage", "path", "'%s' is outside repository at '/home/audit/mcpaudit-repository'", "/home/audit/mcpaudit-repository/README.md"},
		"a new name": {"make_branch", "branch", "refs/heads/%s already exists", "mcpaudit-c1"},
		"bound to":   {"read", "path", "Access denied - path outside allowed directories: %s not in /srv/notes, /etc", "/srv/notes/mcpaudit-files/note.txt"},
		"unsaid":     {"list_files", "path", "%s is outside of the root", "/srv/notes/mcpaudit-files"},
		"new there":  {"write_file", "path", "%s: forbidden", "/srv/notes/mcpaudit-c1-note.txt"},
	} {
		f := NewForm(json.RawMessage(`{"properties":{"`+tc.property+`":{"type":"string"}},"required":["`+tc.property+`"]}`),
			Options{About: tc.tool, Dir: "/home/audit", Bound: []string{"/srv/notes"}})
		refused, _ := f.Next(nil, Mark{})
		f.Refused(refused, strings.ReplaceAll(tc.refusal, "%s", refused.placed[0].value))
		c, ok := f.Next(nil, Mark{Call: 1})
		if want := `{"` + tc.property + `":"` + tc.want + `"}`; !ok || string(c.Arguments) != want {
			t.Errorf("%s: after %s comes %s, want %s", name, refused.Arguments, c.Arguments, want)
		}
	}
}

// A refusal of one argument leaves the values of the others as good as they were.
func TestRefusalKeepsTheRest(t *testing.T) {
	const schema = `{"properties":{"path":{"type":"string"},"mode":{"type":"string","description":"'fast' or 'slow'"}},"required":["path","mode"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "get_sheet", Dir: "/home/audit"})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, "/home/audit/mcpaudit-files/note.txt is no workbook (.xlsx)")
	c, _ = f.Next(nil, Mark{Call: 1})
	if want := `{"mode":"fast","path":"/home/audit/mcpaudit-files/notes.xlsx"}`; string(c.Arguments) != want {
		t.Errorf("%s, want %s", c.Arguments, want)
	}
}

// What an error says is missing comes with the next call, of alternatives the first.
func TestMissingPropertiesAreGiven(t *testing.T) {
	const schema = `{"properties":{"name":{"type":"string"},"data":{"type":"string"},"file":{"type":"string"},"kind":{"enum":["a","b"]}},"required":["name"]}`
	for refusal, want := range map[string]string{
		"Either data or file must be provided": `{"data":"A short note about milk and bread (mcpaudit-c1).","name":"mcpaudit-c1"}`,
		"kind: is required":                    `{"kind":"a","name":"mcpaudit-c1"}`,
		"the data is corrupt":                  "",
	} {
		f := NewForm(json.RawMessage(schema), Options{})
		c, _ := f.Next(nil, Mark{})
		f.Refused(c, refusal)
		c, ok := f.repaired(nil, Mark{Call: 1})
		if ok != (want != "") || string(c.Arguments) != want {
			t.Errorf("%s: %s, want %s", refusal, c.Arguments, want)
		}
	}
}
