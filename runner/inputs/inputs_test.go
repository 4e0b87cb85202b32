package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var home = Options{Dir: "/home/audit"}

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct{ schema, want string }{
		"nothing":           {``, `{}`},
		"no object":         {`true`, `{}`},
		"no properties":     {`{"type":"object"}`, `{}`},
		"note":              {`{"properties":{"note":{"type":"string"}},"required":["note"]}`, `{"note":"A short note about milk and bread (marlow-c0)."}`},
		"enum":              {`{"properties":{"unit":{"enum":[null,"metric","us"]}},"required":["unit"]}`, `{"unit":"metric"}`},
		"const":             {`{"properties":{"kind":{"const":7}},"required":["kind"]}`, `{"kind":7}`},
		"default":           {`{"properties":{"a":{"type":"integer","default":42}},"required":["a"]}`, `{"a":42}`},
		"examples":          {`{"properties":{"a":{"type":"string","examples":["x-1"]}},"required":["a"]}`, `{"a":"x-1"}`},
		"optional":          {`{"properties":{"a":{"default":false},"b":{"type":"string"}}}`, `{}`},
		"null default":      {`{"properties":{"a":{"default":null,"type":"string"}}}`, `{}`},
		"unknown required":  {`{"required":["query"]}`, `{"query":"milk"}`},
		"quoted":            {`{"properties":{"order":{"type":"string","description":"Sort order ('asc' or 'desc')"}},"required":["order"]}`, `{"order":"asc"}`},
		"apostrophes":       {`{"properties":{"x":{"type":"string","description":"the user's or the team's words"}},"required":["x"]}`, `{"x":"A short note about milk and bread (marlow-c0)."}`},
		"for example":       {`{"properties":{"x":{"type":"string","description":"A stock (e.g. ACME)"}},"required":["x"]}`, `{"x":"ACME"}`},
		"bounds":            {`{"properties":{"a":{"type":"integer","exclusiveMinimum":9,"maximum":20,"multipleOf":4}},"required":["a"]}`, `{"a":12}`},
		"between":           {`{"properties":{"a":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}},"required":["a"]}`, `{"a":0.5}`},
		"nullable":          {`{"properties":{"a":{"type":["null","boolean"]}},"required":["a"]}`, `{"a":true}`},
		"anyOf":             {`{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"array","items":{"type":"integer"}}]}},"required":["a"]}`, `{"a":[1]}`},
		"allOf and $ref":    {`{"allOf":[{"$ref":"#/$defs/x"}],"required":["b"],"$defs":{"x":{"properties":{"b":{"type":"boolean"},"c":{"const":1}},"required":["c"]}}}`, `{"b":true,"c":1}`},
		"recursion":         {`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"a":{"a":{"a":{}}}}`},
		"reference to self": {`{"properties":{"a":{"$ref":"#/properties/a"}},"required":["a"]}`, `{"a":"A short note about milk and bread (marlow-c0)."}`},
		"tuple":             {`{"properties":{"a":{"type":"array","prefixItems":[{"const":1},{"const":2}]}},"required":["a"]}`, `{"a":[1,2]}`},
		"unique":            {`{"properties":{"tags":{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"string","maxLength":8}}},"required":["tags"]}`, `{"tags":["c0","c02"]}`},
		"pattern":           {`{"properties":{"a":{"type":"string","pattern":"^[A-Z]{3}-\\d+$"}},"required":["a"]}`, `{"a":"AAA-1"}`},
		"format":            {`{"properties":{"a":{"type":"string","format":"date"}},"required":["a"]}`, `{"a":"2026-01-15"}`},
		"a stock's symbol":  {`{"properties":{"symbol":{"type":"string","description":"Stock symbol in the usual format."}},"required":["symbol"]}`, `{"symbol":"AAPL"}`},
		"another symbol":    {`{"properties":{"symbol":{"type":"string","description":"The symbol to find."}},"required":["symbol"]}`, `{"symbol":"A short note about milk and bread (marlow-c0)."}`},
		"path":              {`{"properties":{"filePath":{"type":"string"}},"required":["filePath"]}`, `{"filePath":"/home/audit/marlow-files/note.txt"}`},
		"directory":         {`{"properties":{"path":{"type":"string","description":"Directory to list"}},"required":["path"]}`, `{"path":"/home/audit/marlow-files"}`},
		"paths":             {`{"properties":{"paths":{"type":"array","items":{"type":"string"}}},"required":["paths"]}`, `{"paths":["/home/audit/marlow-files/note.txt"]}`},
		"email":             {`{"properties":{"email":{"type":"string"}},"required":["email"]}`, `{"email":"office@c0.pages.example.net"}`},
		"url":               {`{"properties":{"url":{"type":"string"}},"required":["url"]}`, `{"url":"https://c0.pages.example.net/notes"}`},
		"a server's URL":    {`{"required":["u"],"properties":{"u":{"default":"http://evil.test/x?y"}}}`, `{"u":"http://c0.pages.example.net/notes"}`},
		"a server's path":   {`{"required":["u","v","w"],"properties":{"u":{"default":"/etc/passwd"},"v":{"default":"~/.ssh/id_rsa"},"w":{"default":"../../x.txt"}}}`, `{"u":"/home/audit/marlow-files","v":"/home/audit/marlow-files","w":"/home/audit/marlow-files/note.txt"}`},
		"a file URL":        {`{"required":["u"],"properties":{"u":{"default":"file:///etc/passwd.txt"}}}`, `{"u":"file:///home/audit/marlow-files/note.txt"}`},
		"its own scheme":    {`{"required":["u","v","w"],"properties":{"u":{"default":"memo://1"},"v":{"default":"/home/audit/x"},"w":{"default":"/"}}}`, `{"u":"memo://1","v":"/home/audit/x","w":"/"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Arguments(json.RawMessage(tc.schema), home, Mark{}); string(got) != tc.want {
				t.Errorf("Arguments = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestArgumentsOfAllProperties(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"note":{"type":"string"},"limit":{"type":"integer"}},"required":["note"]}`)
	all := home
	all.All = true
	want := `{"limit":3,"note":"A short note about milk and bread (marlow-c0)."}`
	if got := Arguments(schema, all, Mark{}); string(got) != want {
		t.Errorf("Arguments = %s, want %s", got, want)
	}
}

// TestMailboxes: addresses are made up for what is said to be one, in whatever words.
func TestMailboxes(t *testing.T) {
	for about, properties := range map[string]map[string]bool{
		"send_email": {`{"to":{"type":"string"}}`: true, `{"cc":{"type":"string","description":"Copies"}}`: true, `{"subject":{"type":"string"}}`: false, `{"body":{"type":"string","description":"Email body"}}`: false},
		"notify": {`{"to":{"type":"string","description":"Email address of the recipient"}}`: true, `{"who":{"type":"string","description":"The recipient's e-mail address"}}`: true,
			`{"who":{"type":"string","description":"Comma-separated list of recipient emails."}}`: true, `{"to":{"type":"string","description":"Target currency"}}`: false,
			`{"template":{"type":"string","description":"Email template to use"}}`: false},
	} {
		for schema, want := range properties {
			o := home
			o.About, o.All = about, true
			got := string(Arguments(json.RawMessage(`{"properties":`+schema+`}`), o, Mark{}))
			if strings.Contains(got, "@") != want {
				t.Errorf("%s of %s: %s, want an address: %t", schema, about, got, want)
			}
		}
	}
}

func TestPathsByTheNameOfTheTool(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"path":{"type":"string"},"source":{"type":"string"},"destination":{"type":"string"}},
		"required":["path","source","destination"]}`)
	for about, want := range map[string]string{
		"list_directory": `{"destination":"A short note about milk and bread (marlow-c0).","path":"/home/audit/marlow-files","source":"A short note about milk and bread (marlow-c0)."}`,
		"searchFiles":    `{"destination":"/home/audit/marlow-c0-copy.txt","path":"/home/audit/marlow-files","source":"/home/audit/marlow-files/note.txt"}`,
		"move_file":      `{"destination":"/home/audit/marlow-c0-copy.txt","path":"/home/audit/marlow-files/table.csv","source":"/home/audit/marlow-files/table.csv"}`,
	} {
		o := home
		o.About = about
		if got := Arguments(schema, o, Mark{}); string(got) != want {
			t.Errorf("%s: %s, want %s", about, got, want)
		}
	}
}

func validate(schema, instance json.RawMessage) error {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tool.json", document); err != nil {
		return err
	}
	compiled, err := compiler.Compile("tool.json")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(instance)))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func TestPrompt(t *testing.T) {
	list := `[{"name":"city","required":true},{"name":"tone","description":"e.g. formal"},{"required":true},7]`
	var got []string
	for _, c := range run(t, NewPromptForm(json.RawMessage(list), home), nil) {
		if c.Shape.Proper() {
			got = append(got, string(c.Arguments))
		}
	}
	if want := []string{`{"city":"London"}`, `{"city":"London","tone":"formal"}`}; !slices.Equal(got, want) {
		t.Errorf("prompt: %q, want %q", got, want)
	}
	if c, ok := NewPromptForm(nil, home).Next(nil, Mark{}); !ok || string(c.Arguments) != "{}" {
		t.Errorf("no arguments: %s", c.Arguments)
	}
}

func TestTemplate(t *testing.T) {
	for template, want := range map[string][]string{
		"note://{id}":           {"note://marlow-c1", "note://1"},
		"file:///{path}":        {"file:///%2Fhome%2Faudit%2Fmarlow-files%2Fnote.txt", "file:///%2Fhome%2Faudit%2Fmarlow-files%2Fdata.json"},
		"search://all{?query}":  {"search://all", "search://all?query=milk"},
		"static://without":      {"static://without"},
		"users://{user}/{+tag}": {"users://marlow-c1/marlow-c1"},
	} {
		f, err := NewTemplateForm(template, home)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		var got []string
		for _, c := range run(t, f, NewPool()) {
			var params struct{ URI string }
			if err := json.Unmarshal(c.Arguments, &params); err != nil {
				t.Fatal(err)
			}
			got = append(got, params.URI)
		}
		if !slices.Equal(got[:min(len(got), len(want))], want) {
			t.Errorf("%s: %q, want %q", template, got, want)
		}
	}
	for _, template := range []string{"note://{", "note://{a b}", strings.Repeat("{a}", 4096)} {
		if _, err := NewTemplateForm(template, home); err == nil {
			t.Errorf("%.20q: no error", template)
		}
	}
}

// Schemas made to explode must end within the budget.
func TestArgumentsOfHostileSchemas(t *testing.T) {
	wide := make([]string, 50_000)
	for i := range wide {
		wide[i] = `"p` + strings.Repeat("x", i%7) + string(rune(0x4e00+i%20000)) + `":{"$ref":"#"}`
	}
	for name, schema := range map[string]string{
		"branches": `{"allOf":[` + strings.Repeat(`{"$ref":"#"},`, 1000) + `{}]}`,
		"wide":     `{"properties":{` + strings.Join(wide, ",") + `},"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"arrays":   `{"required":["a"],"properties":{"a":{"type":"array","minItems":1e9,"items":{"$ref":"#/properties/a"}}}}`,
		"long":     `{"required":["a","b"],"properties":{"a":{"type":"string","minLength":1e300},"b":{"pattern":"^a{1000}{1000}$"}}}`,
		"default":  `{"properties":{"a":{"default":"` + strings.Repeat("y", 1<<20) + `"},"b":{"$ref":"#/properties/a"}}}`,
		"deep":     strings.Repeat(`{"properties":{"a":`, 2000) + `1` + strings.Repeat(`},"required":["a"]}`, 2000),
		"checks":   explosion(24),
		"bounds":   `{"required":["a","b"],"properties":{"a":{"type":"integer","minimum":1e308,"maximum":-1e308},"b":{"type":"integer","multipleOf":1e-320}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			exhaust(t, NewForm(json.RawMessage(schema), Options{}), nil)
			for _, all := range []bool{false, true} {
				got := Arguments(json.RawMessage(schema), Options{All: all}, Mark{})
				if !json.Valid(got) || len(got) > 16*budget {
					t.Errorf("%d bytes: %.80s", len(got), got)
				}
			}
		})
	}
}

// explosion is a schema that takes 2^depth steps to check anything by.
func explosion(depth int) string {
	var defs, members strings.Builder
	for i := range depth {
		fmt.Fprintf(&defs, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	for i := range 100 {
		fmt.Fprintf(&members, `"p%d":{"enum":[1,2,3,4]},`, i)
	}
	return fmt.Sprintf(`{"properties":{%s"z":{"not":{"$ref":"#/$defs/d0"}}},"$defs":{%s"d%d":{}},"not":{"$ref":"#/$defs/d0"}}`, members.String(), defs.String(), depth)
}
