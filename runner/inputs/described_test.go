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

// TestDescribedPaths: a description says what is a path, where the name does not.
func TestDescribedPaths(t *testing.T) {
	for _, tc := range []struct{ tool, name, description, want string }{
		{"git_status", "repository", "Path of the repository", "/home/audit/marlow-repository"},
		{"status", "repository", "Path to the Git repository.", "/home/audit/marlow-repository"},
		{"show", "project", "Directory of the project", "/home/audit/marlow-files"},
		{"show", "where", "The folder to look in", "/home/audit/marlow-files"},
		{"show", "sheet", "Path to the workbook (.xlsx)", "/home/audit/marlow-files/notes.xlsx"},
		{"git_status", "repository", "Name of the repository", "marlow-c0"},
		{"show", "parent", "Folder id", "marlow-c0"},
		{"show", "parent_id", "Folder that has the notes", "marlow-c0"},
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
