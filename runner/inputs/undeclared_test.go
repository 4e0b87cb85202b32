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

// TestMembersOfOpenObjects: an object of which the schema says nothing has what errors ask for.
func TestMembersOfOpenObjects(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"kind":{"enum":["a","b"]},"metadata":{"type":"object"}},"required":["kind","metadata"]}`), Options{})
	for i, name := range []string{"body", "subject"} {
		c, _ := f.Next(nil, Mark{Call: i})
		f.Refused(c, `Error: [{"code":"invalid_type","expected":"string","received":"undefined","path":["metadata","`+name+`"],"message":"Required"}]`)
	}
	c, _ := f.Next(nil, Mark{Call: 2})
	var arguments struct {
		Metadata struct{ Body, Subject string }
	}
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil || arguments.Metadata.Body == "" || arguments.Metadata.Subject == "" {
		t.Errorf("%s, %v", c.Arguments, err)
	}
	if total, _ := f.Branches(); total == 0 {
		t.Error("the schema has lost its branches")
	}
}

// What a schema declares, no error adds to.
func TestDeclaredStays(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"a":{"type":"integer"}},"required":["a"]}`), Options{})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, `[{"expected":"string","code":"invalid_type","path":["b"]}]`)
	f.Refused(c, `[{"expected":"string","code":"invalid_type","path":["a","b"]}]`)
	if f.undeclared+f.opened != 0 {
		t.Error("an error added to a schema")
	}
}
