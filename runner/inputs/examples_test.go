package inputs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestWholeExamples: an example goes up to the end of its sentence.
func TestWholeExamples(t *testing.T) {
	for description, want := range map[string][]string{
		"SQL query, for example SELECT name, value FROM notes":            {"SELECT name, value FROM notes"},
		"Message with placeholders, for example Hello {user.name}":        {"Hello {user.name}"},
		"Formula (e.g. a * 2 + b) to compute":                             {"a * 2 + b"},
		"Substitutions such as s/Bob/Ada/":                                {"s/Bob/Ada/"},
		"Only lines newer than this duration, such as 10m or 2h":          {"10m"},
		"A place, such as New York. Abbreviations will do":                {"New", "New York"},
		"One of the pages (i.e., https://docs.test/a/b)":                  nil,
		"A currency, such as USD for dollars":                             {"USD", "USD for dollars"},
		"A filter, such as a=b for what is equal":                         {"a=b", "a=b for what is equal"},
		"A stock (e.g. ACME)":                                             {"ACME"},
		"Words to look for, such as the name of a city":                   nil,
		"version (examples of a valid version are: v1, apps/v1, or beta)": {"v1", "apps/v1", "beta"},
		"Options: 'asc', 'desc'. The default is chosen by the server":     {"asc", "desc", "chosen"},
		"Supported formats: the ones of the editor":                       nil,
		"One of leave, travel":                                            {"leave", "travel"},
		"One of df, du and uptime, with options":                          {"df", "du", "uptime"},
		"Either heads or tags":                                            {"heads", "tags"},
		"One of the pages":                                                nil,
		"One of several tones, e.g. formal, friendly":                     {"formal"},
		"A filter, such as total > 3 or an empty text":                    {"total > 3"},
	} {
		if got := Offered(description); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", description, got, want)
		}
	}
}

// TestItemsAreDescribed: the description of a list describes its items.
func TestItemsAreDescribed(t *testing.T) {
	for schema, want := range map[string]string{
		`"edits":{"type":"array","items":{"type":"string"},"description":"Substitutions such as s/Bob/Ada/"}`:                               `{"edits":["s/Bob/Ada/"]}`,
		`"edits":{"type":"array","items":{"type":"string","description":"One, such as p/x/"},"description":"Substitutions such as s/Bob/"}`: `{"edits":["p/x/"]}`,
	} {
		f := NewForm(json.RawMessage(`{"properties":{`+schema+`},"required":["edits"]}`), Options{About: "preview"})
		if c, _ := f.Next(nil, Mark{}); string(c.Arguments) != want {
			t.Errorf("%s, want %s", c.Arguments, want)
		}
	}
}

// TestKeysOfMaps: a map has the keys that its description or an error names.
func TestKeysOfMaps(t *testing.T) {
	schema := func(description string) json.RawMessage {
		return json.RawMessage(`{"properties":{"formula":{"type":"string","description":"such as a * 2 + b"},"cells":{"type":"object","description":"` + description +
			`","additionalProperties":{"type":"number"}}},"required":["formula","cells"]}`)
	}
	c, _ := NewForm(schema("Values by name, such as width"), Options{About: "compute"}).Next(nil, Mark{})
	if want := `{"cells":{"width":1},"formula":"a * 2 + b"}`; string(c.Arguments) != want {
		t.Errorf("%s, want %s", c.Arguments, want)
	}
	f := NewForm(schema("Values by name"), Options{About: "compute"})
	for i, tc := range []struct{ refusal, want string }{
		{"a is not defined", `{"cells":{"note":1},"formula":"a * 2 + b"}`},
		{"name 'b' is not defined", `{"cells":{"a":1},"formula":"a * 2 + b"}`},
		{"", `{"cells":{"a":1,"b":1},"formula":"a * 2 + b"}`},
	} {
		c, _ := f.Next(nil, Mark{Call: i})
		if string(c.Arguments) != tc.want {
			t.Errorf("%s, want %s", c.Arguments, tc.want)
		}
		f.Refused(c, tc.refusal)
	}
}

// TestDescribedList: where a schema allows anything, the description says that it is a list.
func TestDescribedList(t *testing.T) {
	for description, want := range map[string]string{
		"Can either be an array of text documents (strings) or an array of records.": `{"documents":["A short note about milk and bread (marlow-c1)."]}`,
		"A comma-separated list of documents":                                        `{"documents":"A short note about milk and bread (marlow-c1)."}`,
	} {
		f := NewForm(json.RawMessage(`{"properties":{"documents":{"description":"`+description+`"}},"required":["documents"]}`), Options{})
		if c, _ := f.Next(nil, Mark{Call: 1}); string(c.Arguments) != want {
			t.Errorf("%s: %s, want %s", description, c.Arguments, want)
		}
	}
}

// TestNamedFiles: where files are given by name, an error says which of them must be there.
func TestNamedFiles(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"files":{"type":"object","additionalProperties":{"type":"string"}}},"required":["files"]}`), Options{})
	c, _ := f.Next(nil, Mark{})
	f.Refused(c, "The files must contain an App.svelte file as the entry point")
	if c, _ := f.repaired(nil, Mark{Call: 1}); !strings.HasPrefix(string(c.Arguments), `{"files":{"App.svelte":"`) {
		t.Errorf("%s, want a file App.svelte", c.Arguments)
	}
}

// TestOpenObjects: an object without declared properties gets those of the example in its description, or one when an
// error says that it must not be empty.
func TestOpenObjects(t *testing.T) {
	form := func(description string) *Form {
		return NewForm(json.RawMessage(`{"properties":{"settings":{"type":"object","description":"`+description+`"}},"required":["settings"]}`), Options{})
	}
	c, _ := form(`The settings (for example {\"to\":\"team@example.com\"} for mail)`).Next(nil, Mark{})
	if want := `{"settings":{"to":"team@example.com"}}`; string(c.Arguments) != want {
		t.Errorf("%s, want %s", c.Arguments, want)
	}
	for refusal, want := range map[string]string{
		"settings must be a non-empty JSON object": `{"settings":{"note":"A short note about milk and bread (marlow-c1)."}}`,
		"settings are wrong":                       "",
	} {
		f := form("The settings")
		c, _ := f.Next(nil, Mark{})
		f.Refused(c, refusal)
		if c, _ := f.repaired(nil, Mark{Call: 1}); string(c.Arguments) != want {
			t.Errorf("%s: %s, want %s", refusal, c.Arguments, want)
		}
	}
}

// TestToldByTool: the examples of a tool's description are for the first text that it needs, after a plain call; what is
// run, and what has values of its own, takes none.
func TestToldByTool(t *testing.T) {
	for property, want := range map[string]string{
		`"title":{"type":"string"}`:                           "bank invoice",
		`"title":{"type":"string","description":"e.g. milk"}`: "milk",
		`"command":{"type":"string"}`:                         "",
	} {
		f := NewForm(json.RawMessage(`{"type":"object","properties":{`+property+`},"required":["title","command"]}`), Options{Said: `Finds notes by words such as "bank invoice".`})
		var told []string
		for i := range 4 {
			c, _ := f.Next(nil, Mark{Call: i})
			for _, from := range c.Origins {
				told = append(told, from.Value)
			}
			f.Answered(c, true)
		}
		if want == "" && len(told) > 0 || want != "" && !slices.Contains(told, want) || want == "milk" && slices.Contains(told, "bank invoice") {
			t.Errorf("%s: %q", property, told)
		}
	}
}
