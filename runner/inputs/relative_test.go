package inputs

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestRelativePaths: where absolute paths are refused come the example of the description,
// what another tool has listed, and names without a directory.
func TestRelativePaths(t *testing.T) {
	const outside = "Access denied: path is outside of the workbook folder"
	for name, tc := range map[string]struct{ tool, property, description, refusal, want string }{
		"an example":     {"read_file", "path", "Path below the workbook folder, for example plan.md", outside, "plan.md"},
		"unsaid":         {"read_text", "path", "Path in the library, for example intro.txt", "that did not work", "intro.txt"},
		"what is listed": {"read_file", "path", "Path below the folder", outside, "listed.md"},
		"a new file":     {"write_file", "path", "Path below the library folder", outside, "marlow-c1-note.txt"},
		"its ending":     {"export_report", "output_file", "Name of the file in the folder, for example june.csv", "output_file must be in the reports folder", "marlow-c1-copy.csv"},
		"a directory":    {"list_files", "folder", "Folder to list, such as drafts", "folder is not allowed", "drafts"},
		"an ending":      {"read_sheet", "path", "Path of the sheet, for example plan.xlsx", "path must end in .docx", "/home/audit/marlow-files/notes.docx"},
	} {
		pool := NewPool()
		pool.Result("tool list_files", json.RawMessage(`{"content":[{"type":"text","text":"listed.md\nother.md"}]}`))
		f := textForm(tc.tool, tc.property, tc.description)
		refused, _ := f.Next(pool, Mark{})
		f.Refused(refused, tc.refusal)
		c, ok := f.Next(pool, Mark{Call: 1})
		if want := `{"` + tc.property + `":"` + tc.want + `"}`; !ok || string(c.Arguments) != want {
			t.Errorf("%s: after %s comes %s, want %s", name, refused.Arguments, c.Arguments, want)
		}
	}
}

// TestAbsolutePathsComeBack: a name in place of an absolute path is given up for good where an error asks for one.
func TestAbsolutePathsComeBack(t *testing.T) {
	f := textForm("read_sheet", "path", "Workbook, such as plan.xlsx")
	for i, tc := range []struct{ want, refusal string }{
		{"/home/audit/marlow-files/notes.xlsx", "that did not work"},
		{"plan.xlsx", "Path 'plan.xlsx' must be absolute, e.g. '/srv/q1.xlsx'"},
		{"/home/audit/marlow-files/notes.xlsx", "that did not work"},
	} {
		c, ok := f.Next(nil, Mark{Call: i})
		if want := `{"path":"` + tc.want + `"}`; !ok || string(c.Arguments) != want {
			t.Fatalf("%s, want %s", c.Arguments, want)
		}
		f.Refused(c, tc.refusal)
	}
	if l := f.lessons["/path"]; !l.rooted || l.absolute > 0 {
		t.Errorf("suspected %d times", l.absolute)
	}
}

// TestAbsolutePathsStay: an absolute path that was accepted, or that leads to nothing, is
// not taken for the fault.
func TestAbsolutePathsStay(t *testing.T) {
	const schema = `{"properties":{"path":{"type":"string","description":"such as plan.md"},"mode":{"type":"string"}},"required":["path","mode"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "read", Dir: "/home/audit"})
	c, _ := f.Next(nil, Mark{})
	f.Answered(c, true)
	f.Refused(c, "that did not work")
	if l := f.lessons["/path"]; l != nil && l.absolute > 0 {
		t.Error("an accepted path is suspected")
	}
	f = textForm("add_row", "path", "such as plan.md")
	c, _ = f.Next(nil, Mark{})
	f.Refused(c, c.placed[0].value+" does not exist")
	if c, _ = f.Next(nil, Mark{Call: 1}); slices.ContainsFunc(c.placed, func(p placed) bool { return p.value == "plan.md" }) {
		t.Errorf("%s", c.Arguments)
	}
}
