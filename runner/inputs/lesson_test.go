package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// What an error says of a value, the next call does.
func TestRefusalsAreLessons(t *testing.T) {
	for name, tc := range map[string]struct{ tool, property, refusal, want string }{
		"an ending":  {"read_range", "path", "Path '%s' must point to an Excel file (.xlsm, .xlsx).", "/home/audit/marlow-files/notes.xlsx"},
		"a file":     {"take_picture", "keep", "%s: must end in .csv or .md", "/home/audit/marlow-files/todo.md"},
		"not there":  {"add_row", "path", "File %s does not exist.", "/home/audit/marlow-files/note.txt"},
		"ENOENT":     {"write_cell", "path", "ENOENT: no such file or directory, open '%s'", "/home/audit/marlow-files/note.txt"},
		"there":      {"get_output", "path", "%s already exists", "/home/audit/marlow-c1-note.txt"},
		"elsewhere":  {"stage", "path", "'%s' is outside repository at '/home/audit/marlow-repository'", "/home/audit/marlow-repository/README.md"},
		"a new name": {"make_branch", "branch", "refs/heads/%s already exists", "marlow-c1"},
		"no hyphens": {"make_table", "table_name", `invalid name "%s", the name should start with a letter or underscore`, "marlow_c1"},
		"letters":    {"make_table", "table_name", "%s: only letters, digits and underscores are allowed", "marlow_c1"},
		"bound to":   {"read", "path", "Access denied - path outside allowed directories: %s not in /srv/notes, /etc", "/srv/notes/marlow-files/note.txt"},
		"unsaid":     {"list_files", "path", "%s is outside of the root", "/srv/notes/marlow-files"},
		"a start":    {"call", "endpoint", `endpoint must begin with "notes:" (got "%s")`, "notes:c0.pages.example.net/notes"},
		"a prefix":   {"show", "project", `Invalid project "%s": it starts with prj_`, "prj_A"},
		"JSON":       {"lint", "manifest", "'manifest' is not JSON: JSONDecodeError", `{\"name\":\"note\"}`},
		"loaded":     {"describe", "dataset", `Error: Unknown dataset "%s". Loaded: ds1, ds2`, "ds1"},
		"columns":    {"group_by", "by", `Error: No column "%s". Columns: Shopping list, price`, "Shopping list"},
		"a folder":   {"create_backup", "folder", "folder must be an existing folder", "/home/audit/marlow-files"},
		"new there":  {"write_file", "path", "%s: forbidden", "/srv/notes/marlow-c1-note.txt"},
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

// TestRefusedFolder: the refusal of a folder leads to the one that its description has for an example.
func TestRefusedFolder(t *testing.T) {
	const schema = `{"properties":{"folder":{"type":"string","description":"Folder, e.g. guide"},"pattern":{"type":"string"}},"required":["folder","pattern"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "find_notes", Dir: "/home/audit"})
	for call := range maxRepairs {
		c, ok := f.Next(nil, Mark{Call: call})
		if !ok {
			break
		}
		if strings.Contains(string(c.Arguments), `"folder":"guide"`) {
			return
		}
		f.Refused(c, "bad folder")
	}
	t.Error("the example was not tried")
}

// TestNotAFolder: a tool that makes a backup of a folder needs one that is there.
func TestNotAFolder(t *testing.T) {
	const schema = `{"properties":{"folder":{"type":"string"},"name":{"type":"string"}},"required":["folder"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "create_backup", Dir: "/home/audit"})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, "ValueError: "+asText(t, c.Arguments, "folder")+" is not a folder")
	if c, ok := f.Next(nil, Mark{Call: 1}); !ok || asText(t, c.Arguments, "folder") != "/home/audit/marlow-files" {
		t.Errorf("after the refusal comes %s", c.Arguments)
	}
}

func asText(t *testing.T, arguments json.RawMessage, name string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(arguments, &all); err != nil {
		t.Fatal(err)
	}
	text, _ := all[name].(string)
	return text
}

// A refusal of one argument leaves the values of the others as good as they were.
func TestRefusalKeepsTheRest(t *testing.T) {
	const schema = `{"properties":{"path":{"type":"string"},"mode":{"type":"string","description":"'fast' or 'slow'"}},"required":["path","mode"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "get_sheet", Dir: "/home/audit"})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, "/home/audit/marlow-files/note.txt is no workbook (.xlsx)")
	c, _ = f.Next(nil, Mark{Call: 1})
	if want := `{"mode":"fast","path":"/home/audit/marlow-files/notes.xlsx"}`; string(c.Arguments) != want {
		t.Errorf("%s, want %s", c.Arguments, want)
	}
}

// What an error says is missing comes with the next call, of alternatives the first.
func TestMissingPropertiesAreGiven(t *testing.T) {
	const schema = `{"properties":{"name":{"type":"string"},"data":{"type":"string"},"file":{"type":"string"},"kind":{"enum":["a","b"]}},"required":["name"]}`
	for refusal, want := range map[string]string{
		"Either data or file must be provided": `{"data":"A short note about milk and bread (marlow-c1).","name":"marlow-c1"}`,
		"kind: is required":                    `{"kind":"a","name":"marlow-c1"}`,
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

// One word of an error is about one argument, and only that one changes; what the error
// offers in its place is taken.
func TestOneArgumentChanges(t *testing.T) {
	const workbook = `{"properties":{"path":{"type":"string"},"sheet":{"type":"string"},"cell":{"type":"string"}},"required":["path","sheet","cell"]}`
	const source = `{"properties":{"source":{"type":"string","description":"such as 'Data!B2'"},"sheet":{"type":"string"}},"required":["source","sheet"]}`
	for name, tc := range map[string]struct{ tool, schema, refusal, want string }{
		"an offer": {"get_cell", workbook, "Workbook /home/audit/marlow-files/note.txt: Sheet 'Sheet1' not found. Available sheets: 'Notes', 'More'",
			`{"cell":"A1","path":"/home/audit/marlow-files/note.txt","sheet":"Notes"}`},
		"what is behind the complaint": {"get_cell", workbook, "Cannot read sheet Sheet1 of /home/audit/marlow-files/note.txt: invalid cell 'A1', use one such as 'B2'",
			`{"cell":"B2","path":"/home/audit/marlow-files/note.txt","sheet":"Sheet1"}`},
		"a part":  {"read_data", source, "Sheet 'Data' not found. Available sheets: 'Notes', 'Sheet1'", `{"sheet":"Sheet1","source":"Notes!B2"}`},
		"a bound": {"get_page", `{"properties":{"page":{"type":"integer"}},"required":["page"]}`, "page must be at least 10", `{"page":10}`},
		"two names": {"rename_sheet", `{"properties":{"sheet":{"type":"string"},"new_name":{"type":"string"}},"required":["sheet","new_name"]}`,
			"A sheet named 'marlow-c1' already exists", `{"new_name":"marlow-c2","sheet":"Sheet1"}`},
		"two paths": {"insert_image", `{"properties":{"image_path":{"type":"string"},"to_file":{"type":"string"}},"required":["image_path","to_file"]}`,
			"/home/audit/marlow-c1-copy.png must end in .xlsx", `{"image_path":"/home/audit/marlow-c2-note.png","to_file":"/home/audit/marlow-c2-copy.xlsx"}`},
		"no directory": {"find_cells", `{"properties":{"path":{"type":"string"}},"required":["path"]}`, "/home/audit/marlow-files is a directory",
			`{"path":"/home/audit/marlow-files/note.txt"}`},
	} {
		f := NewForm(json.RawMessage(tc.schema), Options{About: tc.tool, Dir: "/home/audit"})
		first, _ := f.Next(nil, Mark{Call: 1})
		f.Refused(first, tc.refusal)
		c, ok := f.Next(nil, Mark{Call: 2})
		if !ok || string(c.Arguments) != tc.want {
			t.Errorf("%s: after %s comes %s, want %s", name, first.Arguments, c.Arguments, tc.want)
		}
	}
}

// A secret that an error offers is handed to nobody.
func TestNoOfferOfASecret(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"kind":{"type":"string"}},"required":["kind"]}`), Options{About: "get"})
	pool := NewPool()
	pool.Refuse = func(value string) bool { return value == "AKIA" }
	c, _ := f.Next(pool, Mark{})
	f.Refused(c, "note is no kind. Valid kinds: 'AKIA', 'memo'")
	if c, _ = f.Next(pool, Mark{Call: 1}); string(c.Arguments) != `{"kind":"memo"}` {
		t.Errorf("%s", c.Arguments)
	}
}

// A process that an error names is not ended.
func TestNoOfferOfAProcess(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"pid":{"type":"integer"}},"required":["pid"]}`), Options{About: "kill_process"})
	c, _ := f.Next(nil, Mark{})
	first := string(c.Arguments)
	f.Refused(c, "no such process: pid "+c.placed[0].value+". Available: 7, 12")
	if c, ok := f.repaired(nil, Mark{Call: 1}); ok && string(c.Arguments) != first {
		t.Errorf("%s, want %s", c.Arguments, first)
	}
}

// What was made by one call, another changes by the same arguments.
func TestWhatWasMadeIsTakenAway(t *testing.T) {
	pool := NewPool()
	pool.Taken("tool set_note", json.RawMessage(`{"sheet":"Sheet2","cell":"B2","text":"milk"}`))
	for tool, want := range map[string]string{
		"delete_note":  `{"cell":"B2","sheet":"Sheet2"}`,
		"delete_chart": `{"cell":"A1","sheet":"Sheet1"}`,
	} {
		f := NewForm(json.RawMessage(`{"properties":{"sheet":{"type":"string"},"cell":{"type":"string"}},"required":["sheet","cell"]}`), Options{About: tool})
		if c, _ := f.Next(pool, Mark{}); string(c.Arguments) != want {
			t.Errorf("%s: %s, want %s", tool, c.Arguments, want)
		}
	}
}

// An error that mentions another tool offers its name for no argument but one that asks
// for a tool.
func TestToolsAreNoValues(t *testing.T) {
	pool := NewPool()
	pool.Error("tool find", `Connection "notes" is not known. Use "connect" or "list_connections()" first.`, Case{})
	for argument, want := range map[string]bool{"connection": false, "tool_name": true} {
		f := NewForm(json.RawMessage(`{"properties":{"`+argument+`":{"type":"string"}},"required":["`+argument+`"]}`),
			Options{About: "find", Tools: map[string]bool{"connect": true, "list_connections": true}})
		named := false
		for i := range 8 {
			c, _ := f.Next(pool, Mark{Call: i})
			named = named || strings.Contains(string(c.Arguments), `"connect"`) || !want && strings.Contains(string(c.Arguments), "list_connections")
		}
		if named != want {
			t.Errorf("%s: a tool is named: %t", argument, named)
		}
	}
}

// What asks for a connection gets the URL of the service that the names speak of.
func TestServicesHaveURLs(t *testing.T) {
	for schema, want := range map[string]string{
		`"connectionString":{"type":"string","description":"MongoDB connection string"}`:                "mongodb://c1.pages.example.net/notes",
		`"dsn":{"type":"string","description":"such as postgres:// or mysql://"}`:                       "postgres://c1.pages.example.net/notes",
		`"repository_url":{"type":"string","description":"The https:// or ssh:// URL of a repository"}`: "https://c1.pages.example.net/notes",
		`"url":{"type":"string","description":"The page"}`:                                              "https://c1.pages.example.net/notes",
	} {
		f := NewForm(json.RawMessage(`{"type":"object","properties":{`+schema+`}}`), Options{About: "connect", All: true})
		d, _ := f.aimed(ShapeAll, -1, nil, Mark{Call: 1})
		if got := string(f.send(d).Arguments); !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("%s: %s", schema, got)
		}
	}
}

// TestProseThatIsAName: a text whose name is that of prose takes what other tools list, once an error has said that it
// does not exist.
func TestProseThatIsAName(t *testing.T) {
	pool := tell(t, "text tool list_notes: guide.md\ninstall.md")
	f := NewForm(json.RawMessage(`{"properties":{"note":{"type":"string"}},"required":["note"]}`), Options{About: "read_note"})
	c, _ := f.Next(pool, Mark{Call: 1})
	f.Refused(c, "[Errno 2] No such file or directory: '/srv/vault/A short note about milk and bread (marlow-c1).'")
	if c, _ = f.Next(pool, Mark{Call: 2}); string(c.Arguments) != `{"note":"guide.md"}` {
		t.Errorf("the next call has %s", c.Arguments)
	}
}
