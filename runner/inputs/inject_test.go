package inputs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A shell runs the command of an injection wherever it does not escape the text.
func TestInjection(t *testing.T) {
	m := Mark{Call: 7}
	value := m.Injection("/tmp/note.txt")
	escaped := "'" + strings.ReplaceAll(value, "'", `'"'"'`) + "'"
	for name, tc := range map[string]struct {
		command string
		runs    bool
	}{
		"bare":             {"echo " + value, true},
		"in double quotes": {`echo "` + value + `"`, true},
		"in single quotes": {`echo '` + value + `'`, true},
		"escaped":          {"echo " + escaped, false},
		"as an argument":   {`echo "$1"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, m.Injected()), []byte("#!/bin/sh\n: >ran\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", tc.command, "sh", value)
			shell.Dir = dir
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); (err == nil) != tc.runs {
				t.Errorf("%s: %v, want run %t", tc.command, err, tc.runs)
			}
		})
	}
	for program, want := range map[string]bool{
		"/app/marlow-run-c7": true, "marlow-run-c7": true, "/app/marlow-run-c7.sh": false, "/app/marlow-c7": false,
	} {
		if Injected(program) != want {
			t.Errorf("%s: injected %t, want %t", program, !want, want)
		}
	}
}

// One call of a form holds an injection, in each text that can; a command is none.
func TestInjecting(t *testing.T) {
	const injection = "$(./marlow-run-c9)';./marlow-run-c9;:'"
	for name, tc := range map[string]struct{ schema, want string }{
		"a text":           {`{"properties":{"note":{"type":"string"}},"required":["note"]}`, `{"note":"marlow-c9` + injection + `"}`},
		"a path":           {`{"properties":{"path":{"type":"string"}},"required":["path"]}`, `{"path":"/tmp/marlow-files/table.csv` + injection + `"}`},
		"an optional text": {`{"properties":{"note":{"type":"string"}}}`, `{"note":"marlow-c9` + injection + `"}`},
		"not all that there are": {`{"properties":{"branch":{"type":"string"},"zone":{"type":"string"}},"required":["branch"]}`,
			`{"branch":"main` + injection + `"}`},
		"in a list":      {`{"properties":{"notes":{"type":"array","items":{"type":"string"}}},"required":["notes"]}`, `{"notes":["marlow-c9` + injection + `"]}`},
		"a command":      {`{"properties":{"command":{"type":"string"}},"required":["command"]}`, ``},
		"a number":       {`{"properties":{"n":{"type":"number"}},"required":["n"]}`, ``},
		"one of a few":   {`{"properties":{"unit":{"enum":["a","b"]}},"required":["unit"]}`, ``},
		"of a pattern":   {`{"properties":{"id":{"type":"string","pattern":"^[a-z]+$"}},"required":["id"]}`, ``},
		"too long":       {`{"properties":{"id":{"type":"string","maxLength":20}},"required":["id"]}`, ``},
		"nothing at all": {`{}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewForm(json.RawMessage(tc.schema), Options{})
			var got []string
			for range 64 {
				c, ok := f.Next(NewPool(), Mark{Call: 9})
				if !ok {
					break
				}
				f.Answered(c, true)
				if c.Shape == ShapeInjection {
					got = append(got, string(c.Arguments))
				}
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("injections %q, want %q", got, tc.want)
			}
		})
	}
	f := NewForm(json.RawMessage(`{"properties":{"note":{"type":"string"}}}`), Options{})
	for range 64 {
		if c, ok := f.Next(nil, Mark{Plain: true}); ok && c.Shape == ShapeInjection {
			t.Error("an injection under another name")
		}
	}
}
