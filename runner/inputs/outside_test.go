package inputs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// escapes are the arguments with which a form leads out.
func escapes(t *testing.T, about, schema string) (found []string) {
	t.Helper()
	o := home
	o.About = about
	cases := run(t, NewForm(json.RawMessage(schema), o), nil)
	for i, c := range cases {
		if c.Shape == ShapeOutside {
			found = append(found, string(c.Arguments))
		} else if len(found) > 0 && c.Shape != ShapeInjection {
			t.Errorf("%s: call %d, %s, comes after those that lead out", about, i, c.Shape)
		}
	}
	return found
}

// TestOutsideNumber: the number of an attempt shows in each of the ways to its file.
func TestOutsideNumber(t *testing.T) {
	for name, want := range map[string]int{
		OutsideFile(7, ".md"): 7, "/srv/notes/" + LinkName + "/8/note": 8, Sibling("/srv/notes") + "/9": 9,
		OutsideDir: 0, "/srv/marlow-elsewherer/1/x": 0, OutsideDir + "/note.txt": 0,
		"/srv/notes/....//....//" + OutsideDir[1:] + "/7/note.txt": 0, `/srv/notes/open("` + OutsideDir + "/7/note.txt": 0,
		"/srv/notes/old/" + LinkName + "/8/note": 0,
	} {
		if got, ok := OutsideNumber(name, []string{"/srv/notes"}); got != want || ok != (want > 0) {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

// TestNeighbourNumber: a file in the directory of another name is none of those outside.
func TestNeighbourNumber(t *testing.T) {
	file := Neighbour("/srv/notes") + "/7/note.txt"
	if number, ok := NeighbourNumber(file); !ok || number != 7 {
		t.Errorf("%s: %d, %v", file, number, ok)
	}
	if _, ok := OutsideNumber(file, []string{"/srv/notes"}); ok {
		t.Errorf("%s lies outside", file)
	}
	if _, ok := NeighbourNumber(Sibling("/srv/notes") + "/7/note.txt"); ok {
		t.Error("a sibling is taken for the other")
	}
}

func TestEscaping(t *testing.T) {
	up := strings.Repeat("../", 15) + ".."
	const text, list = `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`
	for name, tc := range map[string]struct {
		about, schema string
		want          []string
	}{
		"a file":           {"read_file", `{"properties":{"path":` + text + `},"required":["path"]}`, []string{`{"path":"` + up + `/var/tmp/marlow-elsewhere/note.txt"}`, `{"path":"/home/audit/../../var/tmp/marlow-elsewhere/note.txt"}`}},
		"a directory":      {"list_files", `{"properties":{"directory":` + text + `}}`, []string{`{"directory":"` + up + `/var/tmp/marlow-elsewhere"}`, `{"directory":"/home/audit/../../var/tmp/marlow-elsewhere"}`}},
		"several":          {"read_files", `{"properties":{"paths":` + list + `}}`, []string{`{"paths":["` + up + `/var/tmp/marlow-elsewhere/note.txt"]}`, `{"paths":["/home/audit/../../var/tmp/marlow-elsewhere/note.txt"]}`}},
		"no path":          {"add", `{"properties":{"title":` + text + `}}`, nil},
		"what is run":      {"run", `{"properties":{"command":` + text + `}}`, nil},
		"a fixed path":     {"read_file", `{"properties":{"path":{"enum":["a","b"]}}}`, nil},
		"no place for one": {"read_file", `{"properties":{"path":{"type":"string","maxLength":8}}}`, nil},
	} {
		if got := escapes(t, tc.about, tc.schema); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := escapes(t, "write_file", `{"properties":{"path":`+text+`}}`); len(got) != 2 || !strings.Contains(got[0], "/var/tmp/marlow-elsewhere/marlow-c") {
		t.Errorf("something new: %q", got)
	}
}

func TestOutside(t *testing.T) {
	for name, want := range map[string]bool{OutsideDir: true, OutsideDir + "/x/y": true, OutsideDir + "-2": false, "/var/tmp": false, "": false} {
		if Outside(name) != want {
			t.Errorf("Outside(%q) is not %t", name, want)
		}
	}
}
