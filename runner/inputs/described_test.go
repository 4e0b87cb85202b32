package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// first is the first call of a tool with one text.
func first(t *testing.T, tool, name, description string) string {
	t.Helper()
	c, ok := textForm(tool, name, description).Next(nil, Mark{})
	if !ok {
		t.Fatal("no call")
	}
	var arguments map[string]string
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
		t.Fatal(err)
	}
	return arguments[name]
}

func textForm(tool, name, description string) *Form {
	schema, _ := json.Marshal(map[string]any{"properties": map[string]any{name: map[string]any{"type": "string", "description": description}}, "required": []string{name}})
	return NewForm(schema, Options{About: tool, Dir: "/home/audit"})
}

// TestDescribedCommands: a client of an account is run where the tool has such a command for an example, and what
// shows the environment never is.
func TestDescribedCommands(t *testing.T) {
	for description, want := range map[string]string{
		"For example: aws s3 ls | head -5": "aws s3 ls | head -5",
		"Command, e.g. kubectl get pods":   "kubectl",
		"Command, e.g. printenv HOME":      "echo marlow-c0",
		"Command of the AWS CLI":           "echo marlow-c0",
	} {
		if got := first(t, "run_tool", "command", description); got != want {
			t.Errorf("%q: %q, want %q", description, got, want)
		}
	}
}

// TestDescribedPaths: a description says what is a path, where the name does not.
func TestDescribedPaths(t *testing.T) {
	for _, tc := range []struct{ tool, name, description, want string }{
		{"git_status", "repository", "Path of the repository", "/home/audit/marlow-repository"},
		{"status", "repository", "Path to the Git repository.", "/home/audit/marlow-repository"},
		{"show", "project", "Directory of the project", "/home/audit/marlow-files"},
		{"show", "where", "The folder to look in", "/home/audit/marlow-files"},
		{"show", "sheet", "Path to the workbook (.xlsx)", "/home/audit/marlow-files/notes.xlsx"},
		{"show", "subject", "Path to the JSON file", "/home/audit/marlow-files/data.json"},
		{"show", "target_name", "Path of the property within the JSON file", "marlow-c0"},
		{"git_status", "repository", "Name of the repository", "marlow-c0"},
		{"show", "parent", "Folder id", "marlow-c0"},
		{"show", "parent_id", "Folder that has the notes", "marlow-c0"},
		{"show", "jsonPath", "JSONPath of what to return, such as '$.title'", "$.title"},
		{"show", "jsonPath", "Path of the JSON file", "/home/audit/marlow-files/data.json"},
		{"call", "route_name", "Path of the URL", "marlow-c0"},
	} {
		if got := first(t, tc.tool, tc.name, tc.description); got != tc.want && !(strings.HasPrefix(tc.want, "marlow") && strings.Contains(got, " ")) {
			t.Errorf("%s(%s: %s): %s, want %s", tc.tool, tc.name, tc.description, got, tc.want)
		}
	}
}

// TestRefusalsTeachPaths: what a program finds no file by is a path, in whatever name it stands.
func TestRefusalsTeachPaths(t *testing.T) {
	for name, tc := range map[string]struct{ tool, property, refusal, want string }{
		"git":            {"git_log", "repo", "fatal: cannot change to '%s': No such file or directory", "/home/audit/marlow-repository"},
		"no repository":  {"history", "checkout_name", "fatal: not a git repository (or any of the parent directories): .git", "/home/audit/marlow-repository"},
		"Python":         {"count_words", "document_name", "[Errno 2] No such file or directory: '%s'", "/home/audit/marlow-files/note.txt"},
		"below one":      {"count_words", "document_name", "[Errno 2] No such file or directory: '/srv/texts/%s.txt'", "marlow-c1"},
		"no programs":    {"start", "command_name", "[Errno 2] No such file or directory: '%s'", "echo marlow-c1"},
		"of a directory": {"status", "project_name", "could not chdir to '%s'", "/home/audit/marlow-files"},
	} {
		f := textForm(tc.tool, tc.property, "")
		refused, _ := f.Next(nil, Mark{})
		f.Refused(refused, strings.ReplaceAll(tc.refusal, "%s", refused.placed[0].value))
		c, ok := f.Next(nil, Mark{Call: 1})
		if want := `{"` + tc.property + `":"` + tc.want + `"}`; !ok || string(c.Arguments) != want {
			t.Errorf("%s: after %s comes %s, want %s", name, refused.Arguments, c.Arguments, want)
		}
	}
}

// TestDescribedNames: the name of something is one word, a note is none.
func TestDescribedNames(t *testing.T) {
	const note = "A short note about milk and bread (marlow-c0)."
	for _, tc := range []struct{ name, description, want string }{
		{"target", "Name of the container", "marlow-c0"},
		{"target", "Docker container ID.", "marlow-c0"},
		{"target", "The name or id of the pod", "marlow-c0"},
		{"container", "Where to look", "marlow-c0"},
		{"target", "Note about the name", note},
		{"target", "What the name is for", note},
		{"comment", "Name of the reason", note},
	} {
		if got := first(t, "look", tc.name, tc.description); got != tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.name, tc.description, got, tc.want)
		}
	}
}

// TestDescribedURLs: an address of a page is a URL.
func TestDescribedURLs(t *testing.T) {
	const url = "https://c0.pages.example.net/notes"
	for _, tc := range []struct{ name, description, want string }{
		{"address", "Web address of the page", url},
		{"address", "Address of the site", url},
		{"page", "URL of the page, http only", url},
		{"address", "Address of the shop", "London"},
		{"address", "URL-encoded street", "London"},
	} {
		if got := first(t, "look", tc.name, tc.description); got != tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.name, tc.description, got, tc.want)
		}
	}
}

// TestRefusedURLs: after a URL that was refused comes one of the scheme "http", and where
// nothing is reached the one that the description names, as it stands.
func TestRefusedURLs(t *testing.T) {
	const inward = "URL of the page, such as http://169.254.169.254/meta or http://wiki.internal/page"
	const example = "URL of the page, for example https://docs.test/guide."
	for _, tc := range []struct {
		description, refusal string
		sunk                 bool
		want                 []string
		said                 string // of the tool
	}{
		{"URL of the page", "only http", false, []string{"https://c0.pages.example.net/notes", "http://c1.pages.example.net/notes"}, ""},
		{example, "host is not allowed", true, []string{"https://c0.pages.example.net/notes", "https://docs.test/guide", "http://c2.pages.example.net/notes"}, ""},
		{inward, "host is not allowed", true, []string{"https://c0.pages.example.net/notes", "http://c1.pages.example.net/notes"}, ""},
		{example, "host is not allowed", false, []string{"https://c0.pages.example.net/notes", "http://c1.pages.example.net/notes"}, ""},
		{"YouTube video URL or ID", "Could not extract video ID", true, []string{"https://c0.pages.example.net/notes", "https://www.youtube.com/watch?v=jNQXAC9IVRw"}, ""},
		{"YouTube video URL or ID", "Could not extract video ID", false, []string{"https://c0.pages.example.net/notes", "http://c1.pages.example.net/notes"}, ""},
		{"URL of the page", "URL must be of a supported domain", true, []string{"https://c0.pages.example.net/notes", "https://docs.test/guide.html"}, "Reads a page.\n- https://docs.test/guide.html"},
	} {
		f := textForm("read_page", "url", tc.description)
		f.options.Sunk, f.options.Said = tc.sunk, tc.said
		for i, want := range tc.want {
			c, ok := f.Next(nil, Mark{Call: i})
			if !ok || string(c.Arguments) != `{"url":"`+want+`"}` {
				t.Errorf("%s, call %d: %s, want %s", tc.refusal, i, c.Arguments, want)
			}
			f.Refused(c, tc.refusal)
		}
	}
}
