package words

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A set is the same from a list and from a text; a list may have words with blanks.
func TestSet(t *testing.T) {
	for text, want := range map[string]Set{
		`"a b\n c"`:     {"a": true, "b": true, "c": true},
		`["a", "b c"]`:  {"a": true, "b c": true},
		`""`:            {},
		`[1]`:           nil,
		`{"a": "list"}`: nil,
	} {
		var got Set
		if err := json.Unmarshal([]byte(text), &got); (err != nil) != (want == nil) {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestKeysComeOnce: Read would keep the last of several.
func TestKeysComeOnce(t *testing.T) {
	for name := range All() {
		text, err := files.ReadFile(name + ".yaml")
		if err == nil {
			_, err = yaml.YAMLToJSONStrict(text)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, read := range map[string]func(){
		"an unknown file":         func() { Read[map[string]any]("none") },
		"a list that T has not":   func() { Read[struct{ Known []string }]("squat") },
		"a list of another shape": func() { Read[struct{ Known, Bystanders int }]("squat") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is read", name)
				}
			}()
			read()
		}()
	}
}
