// Package words splits texts into sentences and words, and holds the lists of words and
// names by which they are read: one YAML file for each package that uses some, with a
// comment on the origin of its words.
//
// rules.Digest covers the lists, so a new word makes a new ruleset; a comment does not, nor do
// the order and the line breaks of a list that is written as a text.
package words

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// Read parses the lists of a package. It panics where they do not fit T: the tests of the package find that.
func Read[T any](name string) T {
	var into T
	text, err := files.ReadFile(name + ".yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &into, yaml.DisallowUnknownFields) // a test looks for keys that come twice
	}
	if err != nil {
		panic(fmt.Sprintf("words: %s.yaml: %v", name, err))
	}
	return into
}

// Set is a set of words. Its file has a list, or a text of words with blanks between.
type Set map[string]bool

// SetOf makes a set.
func SetOf(words ...string) Set {
	s := make(Set, len(words))
	for _, word := range words {
		s[word] = true
	}
	return s
}

// UnmarshalJSON reads either form.
func (s *Set) UnmarshalJSON(text []byte) error {
	var list []string
	if len(text) > 0 && text[0] == '"' {
		var all string
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		list = strings.Fields(all)
	} else if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*s = SetOf(list...)
	return nil
}

// All returns the files by their names as JSON, without comments.
func All() map[string]string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err == nil {
			text, err = yaml.YAMLToJSON(text)
		}
		if err != nil {
			panic(fmt.Sprintf("words: %s: %v", e.Name(), err))
		}
		all[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = string(text)
	}
	return all
}
