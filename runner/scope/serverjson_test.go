package scope

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

const entry = `{
  "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "io.github.someone/notes", "description": "Notes, kept in a database.", "version": "1.0.0",
  "websiteUrl": "https://website.example.com", "repository": {"url": "https://repository.example.com"},
  "packages": [{
    "registryType": "npm", "registryBaseUrl": "https://registry.example.com", "identifier": "notes", "version": "1.0.0",
    "transport": {"type": "streamable-http", "url": "http://127.0.0.1:8765/mcp"},
    "environmentVariables": [
      {"name": "NOTES_TOKEN", "description": "Token of the notes service", "isRequired": true, "isSecret": true},
      {"name": "NOTES_URL", "description": "Where the notes are", "default": "https://notes.example.com/v1"},
      {"name": "NOTES_EXAMPLE", "placeholder": "https://placeholder.example.com"}
    ]
  }],
  "remotes": [{"type": "streamable-http", "url": "https://mcp.example.com/mcp"}]
}`

func TestServerJSON(t *testing.T) {
	older := strings.NewReplacer("environmentVariables", "environment_variables", "isSecret", "is_secret").Replace(entry)
	for _, text := range []string{entry, older} {
		s := Read(manifest.Manifest{}, Given{ServerJSON: json.RawMessage(text)})
		var got []string
		for _, c := range s.Clauses() {
			if c.Source != report.ScopeServerJSON || c.Capability != ofServer || c.Field == "" {
				t.Errorf("%+v", c)
			}
			got = append(got, c.Means)
		}
		for _, want := range []string{"is given the secret NOTES_TOKEN", "may connect to notes.example.com",
			"may connect to mcp.example.com", "may listen on port 8765", "may use the network"} {
			if !slices.Contains(got, want) {
				t.Errorf("%q is missing in %q", want, got)
			}
		}
		for host, want := range map[string]Answer{
			"notes.example.com": Allowed, "mcp.example.com": Allowed, "website.example.com": Unsaid,
			"repository.example.com": Unsaid, "registry.example.com": Unsaid, "placeholder.example.com": Unsaid,
		} {
			if answer, _ := s.Answer(of, Use{Kind: UseEgress, Host: host, Address: "28.18.0.1", Port: 443}); answer != want {
				t.Errorf("%s: %d, want %d", host, answer, want)
			}
		}
		if answer, _ := s.Answer(ofServer, Use{Kind: UseListen, Address: "127.0.0.1", Port: 8765}); answer != Allowed {
			t.Errorf("listen: %d", answer)
		}
	}
}

// What the server ships does not widen what the operator said, and its promises count.
func TestAuthorityOfServerJSON(t *testing.T) {
	mcp := Use{Kind: UseEgress, Host: "mcp.example.com", Address: "28.18.0.1", Port: 443}
	s := Read(manifest.Manifest{}, Given{ServerJSON: json.RawMessage(entry), Allow: &report.DeclaredScope{Egress: []string{}}})
	if got, clause := s.Answer(ofServer, mcp); got != Exceeded || clause.Source != report.ScopeSpec || clause.Means != "may connect nowhere" {
		t.Errorf("%d by %+v", got, clause)
	}
	if all := s.Clauses(); all[0].Source != report.ScopeSpec {
		t.Errorf("the operator does not come first: %+v", all)
	}
	local := `{"name":"a/b","description":"Counts words. Works offline."}`
	if got, clause := Read(manifest.Manifest{}, Given{ServerJSON: json.RawMessage(local)}).Network(ofServer); got != Denied ||
		clause.Source != report.ScopeServerJSON {
		t.Errorf("%d by %+v", got, clause)
	}
}

func TestCheckServerJSON(t *testing.T) {
	for text, want := range map[string]bool{
		entry: true, `{"name":"a/b","description":"c"}`: true,
		``: false, `[]`: false, `{"name":"a/b"}`: false, `{"name":"ab","description":"c"}`: false,
		`{"name":"a/","description":"c"}`: false, `{"name":"a/b","description":"c"`: false, `{"name":1,"description":"c"}`: false,
	} {
		if err := CheckServerJSON([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzServerJSON(f *testing.F) {
	f.Add(entry)
	f.Add(`{"name":"a/b","description":"c","remotes":[{"url":"https://*.x"}],"packages":[{"transport":{"url":"http://[::1"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Read(manifest.Manifest{}, Given{ServerJSON: json.RawMessage(text)}).Clauses() {
			if c.Source != report.ScopeServerJSON || c.Means == "" || len(c.Quote) > 3*maxQuote {
				t.Fatalf("%+v", c)
			}
		}
	})
}
