package inputs

import (
	"encoding/json"
	"testing"
)

func sharing(tool, property string, w *Ways) *Form {
	return NewForm(json.RawMessage(`{"properties":{"`+property+`":{"type":"string"}},"required":["`+property+`"]}`), Options{About: tool, Dir: "/home/audit", Ways: w})
}

// TestWays: what one tool was refused for is known of the next, and an absolute path that one took is no fault in another.
func TestWays(t *testing.T) {
	w := &Ways{}
	read := sharing("read_cells", "path", w)
	c, _ := read.Next(nil, Mark{})
	read.Refused(c, "path must point to an Excel file (.xlsx)")
	sort := sharing("sort_cells", "path", w)
	c, _ = sort.Next(nil, Mark{Call: 1})
	if want := `{"path":"/home/audit/marlow-files/notes.xlsx"}`; string(c.Arguments) != want {
		t.Errorf("%s, want %s", c.Arguments, want)
	}
	sort.Answered(c, true)
	c, _ = read.Next(nil, Mark{Call: 2})
	read.Refused(c, "that did not work")
	if c, ok := read.repaired(nil, Mark{Call: 3}); ok {
		t.Errorf("repaired by %s", c.Arguments)
	}
}

// TestNothingElseSuspected: an error that says what it misses is no reason to doubt a path.
func TestNothingElseSuspected(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"path":{"type":"string"},"range":{"type":"string"}},"required":["path"]}`), Options{About: "set_table", Dir: "/home/audit"})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, "Give `range` to make a table.")
	if c, _ = f.repaired(nil, Mark{Call: 1}); c.placed[0].value[0] != '/' || len(c.placed) != 2 {
		t.Errorf("%s", c.Arguments)
	}
}
