package inputs

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// TestManifests: what a cluster applies is more than YAML; elsewhere the description says what a manifest is.
func TestManifests(t *testing.T) {
	for _, c := range []struct{ tool, description, want string }{
		{"kubectl_create", "YAML manifest to create resources from", "kind: ConfigMap"}, {"apply", "YAML of a Kubernetes object", "kind: ConfigMap"},
		{"publish", "The manifest as YAML", "note: milk"},
	} {
		f := NewForm(json.RawMessage(`{"properties":{"manifest":{"type":"string","description":"`+c.description+`"}},"required":["manifest"]}`), Options{About: c.tool})
		if got, _ := f.Next(nil, Mark{}); !strings.Contains(string(got.Arguments), c.want) {
			t.Errorf("%s: %s", c.tool, got.Arguments)
		}
	}
	if got := first(t, "create_or_update", "resource", "Complete YAML or JSON representation of the Kubernetes resource"); !strings.Contains(got, "kind: ConfigMap") {
		t.Errorf("the resource is %q", got)
	}
}

// TestSQL: a tool that takes SQL gets a statement, and one that changes the database gets one that does.
func TestSQL(t *testing.T) {
	for _, c := range []struct{ tool, description, want string }{
		{"read_query", "SELECT SQL query to execute", "SELECT 1"}, {"write_query", "SQL query to execute", "INSERT INTO"}, {"create_table", "CREATE TABLE SQL statement", "CREATE TABLE"},
		{"execute_sql", "The query", "SELECT 1"}, {"search", "What to look for in the database", "milk"},
	} {
		f := NewForm(json.RawMessage(`{"properties":{"query":{"type":"string","description":"`+c.description+`"}},"required":["query"]}`), Options{About: c.tool})
		if got, _ := f.Next(nil, Mark{}); !strings.Contains(string(got.Arguments), c.want) {
			t.Errorf("%s: %s", c.tool, got.Arguments)
		}
	}
}

// TestCypher: a tool that takes Cypher gets a query, and one that writes gets a query that writes.
func TestCypher(t *testing.T) {
	for _, c := range []struct{ tool, description, want string }{
		{"read_neo4j_cypher", "The query", "MATCH (n)"}, {"write_neo4j_cypher", "The query", "CREATE (n:Note"}, {"ask", "The query in Cypher", "MATCH (n)"}, {"search", "What to look for", "milk"},
	} {
		f := NewForm(json.RawMessage(`{"properties":{"query":{"type":"string","description":"`+c.description+`"}},"required":["query"]}`), Options{About: c.tool})
		if got, _ := f.Next(nil, Mark{}); !strings.Contains(string(got.Arguments), c.want) {
			t.Errorf("%s: %s", c.tool, got.Arguments)
		}
	}
}

// TestGraphQL: a tool that takes GraphQL gets a query, by its name, its description or that of the argument.
func TestGraphQL(t *testing.T) {
	for _, c := range []struct{ tool, says, description, want string }{
		{"query-graphql", "", "", "{ notes"}, {"ask", "Queries a GraphQL endpoint.", "", "{ notes"}, {"ask", "", "The GraphQL query", "{ notes"}, {"search", "", "What to look for", "milk"},
	} {
		f := NewForm(json.RawMessage(`{"properties":{"query":{"type":"string","description":"`+c.description+`"}},"required":["query"]}`), Options{About: c.tool, Said: c.says})
		if got, _ := f.Next(nil, Mark{}); !strings.Contains(string(got.Arguments), c.want) {
			t.Errorf("%s: %s", c.tool, got.Arguments)
		}
	}
}

// TestFilesInBase64: what is encoded is a file of the kind that is described.
func TestFilesInBase64(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string","contentEncoding":"base64","description":"The ZIP archive in Base64"}`: "PK\x03\x04",
		`{"type":"string","description":"The archive (.zip), Base64-encoded"}`:                   "PK\x03\x04",
		`{"type":"string","contentEncoding":"base64","description":"A picture (PNG)"}`:           "\x89PNG",
		`{"type":"string","description":"A PDF as base64"}`:                                      "%PDF-",
		`{"type":"string","contentEncoding":"base64","description":"Anything"}`:                  "A short note",
	} {
		c, _ := NewForm(json.RawMessage(`{"properties":{"data":`+schema+`},"required":["data"]}`), Options{About: "put"}).Next(nil, Mark{})
		var arguments struct{ Data string }
		if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
			t.Fatal(err)
		}
		if content, err := base64.StdEncoding.DecodeString(arguments.Data); err != nil || !strings.HasPrefix(string(content), want) {
			t.Errorf("%s: %.40q, %v", schema, content, err)
		}
	}
}

// A tool for pictures in base64 gets one.
func TestPictureInBase64(t *testing.T) {
	f := NewForm(json.RawMessage(`{"properties":{"data":{"type":"string","minLength":32}},"required":["data"]}`), Options{About: "image_info_base64"})
	c, _ := f.Next(nil, Mark{})
	if !strings.Contains(string(c.Arguments), base64.StdEncoding.EncodeToString(Document("png"))[:32]) {
		t.Errorf("%s", c.Arguments)
	}
}
