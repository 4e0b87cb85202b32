package inputs

import (
	"encoding/json"
	"testing"
)

// A tool that publishes an empty schema is called with what its errors ask for.
func TestWhatNoSchemaDeclares(t *testing.T) {
	f := NewForm(json.RawMessage(`{"type":"object"}`), Options{About: "edit_file", Dir: "/home/audit"})
	for i, step := range []struct{ want, refusal string }{
		{`{}`, `Error: Invalid arguments: [{"expected":"string","code":"invalid_type","path":["path"],"message":"Required"},` +
			`{"expected":"array","code":"invalid_type","path":["edits"],"message":"Required"}]`},
		{`{"edits":["A short note about milk and bread (marlow-c1)."],"path":"/home/audit/marlow-files/note.txt"}`,
			`Error: Invalid arguments: [{"expected":"object","code":"invalid_type","path":["edits",0]}]`},
		{`{"edits":[{}],"path":"/home/audit/marlow-files/note.txt"}`,
			`Error: Invalid arguments: [{"expected":"string","code":"invalid_type","path":["edits",0,"newText"]}]`},
		{`{"edits":[{"newText":"A short note about milk and bread (marlow-c3)."}],"path":"/home/audit/marlow-files/note.txt"}`, ""},
	} {
		c, ok := f.Next(nil, Mark{Call: i})
		if !ok || string(c.Arguments) != step.want {
			t.Fatalf("call %d: %s, want %s", i, c.Arguments, step.want)
		}
		f.Refused(c, step.refusal)
	}
	if total, done := f.Branches(); total != 0 || done != 0 {
		t.Errorf("%d of %d branches of an empty schema", done, total)
	}
}

// What a schema declares, no error adds to.
func TestDeclaredStays(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"a":{"type":"integer"}},"required":["a"]}`), Options{})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, `[{"expected":"string","code":"invalid_type","path":["b"]}]`)
	if f.undeclared != 0 {
		t.Error("an error added to a schema")
	}
}
