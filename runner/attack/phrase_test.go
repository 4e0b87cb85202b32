package attack

import (
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestPhrases: statements are found where requests have them, and prose is none.
func TestPhrases(t *testing.T) {
	get := func(target string) Sent { return Sent{Target: target} }
	json := func(body string) Sent { return Sent{Target: "/a", Kind: "application/json", Body: []byte(body)} }
	for name, tc := range map[string]struct {
		sent Sent
		want string
	}{
		"SOQL":            {get("/query?q=SELECT+Id+FROM+A+WHERE+Name+%3D+%27marlow-c7%27"), "SELECT Id FROM A WHERE Name = 'marlow-c7'"},
		"OData":           {get("/users?%24filter=displayName%20eq%20'marlow-c7'"), "displayName eq 'marlow-c7'"},
		"JQL":             {json(`{"jql":"text ~ \"marlow-c7\""}`), `text ~ "marlow-c7"`},
		"Cypher":          {json(`{"statements":[{"statement":"MATCH (p {name: 'marlow-c7'}) RETURN p"}]}`), "MATCH (p {name: 'marlow-c7'}) RETURN p"},
		"GraphQL":         {json(`{"query":"query { users(email: \"marlow-c7\") { id } }"}`), `query { users(email: "marlow-c7") { id } }`},
		"a parameter":     {json(`{"query":"query($e: String!) { users(email: $e) { id } }","variables":{"e":"marlow-c7"}}`), ""},
		"JSON in JSON":    {json(`{"query":"{\"name\":\"marlow-c7\"}"}`), ""},
		"prose":           {json(`{"content":"Create a title for the note 'marlow-c7', as it is."}`), ""},
		"a prompt":        {json(`{"query":"What is \"marlow-c7\"?"}`), ""},
		"a web search":    {get("/search?q=intitle:%22marlow-c7%22"), ""},
		"another request": {get("/search?q=name+%3D+%27x%27"), ""},
	} {
		got := tc.sent.Phrases()
		if tc.want == "" && len(got) > 0 || tc.want != "" && !slices.Equal(got, []string{tc.want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := (Sent{Kind: "application/x-www-form-urlencoded", Body: []byte("where=a+%3D+'marlow-c7'")}).Phrases(); len(got) != 1 {
		t.Errorf("a form: %q", got)
	}
	const statement = "SELECT a FROM b WHERE c = 'marlow-c7'"
	if got := (Sent{Kind: "application/x-www-form-urlencoded", Body: []byte(statement)}).Phrases(); !slices.Equal(got, []string{statement}) {
		t.Errorf("a body that is called a form: %q", got)
	}
}

// TestQuotedForServices: a quote that one way of writing it keeps inside of quotes leaves none.
func TestQuotedForServices(t *testing.T) {
	for text, want := range map[string]string{
		`a = 'x' OR mark`:   "",
		`a = 'x'' OR mark'`: "'",
		`a = 'x\' OR mark'`: "'",
		`a = "x\" OR mark"`: `"`,
	} {
		if got, _ := Quoted(Web, text, "mark"); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// FuzzPhrases: whatever a server sends, reading it ends.
func FuzzPhrases(f *testing.F) {
	f.Add("/?q=SELECT+a+FROM+b+WHERE+c+%3D+'marlow-c7'", "", "")
	f.Add("/", "application/json", `{"query":"{ a(b: \"marlow-c7\") }"}`)
	f.Add("/", "application/x-www-form-urlencoded", "q=a%3D'marlow-c7'")
	f.Fuzz(func(t *testing.T, target, kind, body string) {
		sent := Sent{Target: target, Kind: kind, Body: []byte(body)}
		for _, text := range sent.Phrases() {
			if len(inputs.Marks([]byte(text))) == 0 {
				t.Errorf("%q has no mark", text)
			}
		}
		for _, q := range sent.Askings(time.Time{}) {
			q.Changes("marlow-c7", nil, "")
		}
	})
}
