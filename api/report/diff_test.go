package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func tools(items ...Item) Manifest { return Manifest{Tools: items} }

func TestRenamed(t *testing.T) {
	item := func(name, description, definition string) Item {
		return Item{Name: name, Description: description, Definition: definition, Digest: name + description + definition}
	}
	for name, c := range map[string]struct {
		before, after Manifest
		want          Drift
	}{
		"the same text": {tools(item("a", "Reads.", "{}")), tools(item("b", "Reads.", "{}")), Drift{Renamed: []string{"tool a to tool b"}}},
		"another schema": {tools(item("a", "Reads.", "{}")), tools(item("b", "Reads.", `{"x":1}`)),
			Drift{Added: []string{"tool b"}, Removed: []string{"tool a"}, Changes: []Change{{Capability: "tool b", Field: "description", After: "Reads."}}}},
		"a schema that is not known": {tools(item("a", "Reads.", "")), tools(item("b", "Reads.", "")),
			Drift{Added: []string{"tool b"}, Removed: []string{"tool a"}, Changes: []Change{{Capability: "tool b", Field: "description", After: "Reads."}}}},
		"no description": {tools(item("a", "", "{}")), tools(item("b", "", "{}")), Drift{Added: []string{"tool b"}, Removed: []string{"tool a"}}},
		"two that it may be": {tools(item("a", "Reads.", "{}")), tools(item("b", "Reads.", "{}"), item("c", "Reads.", "{}")),
			Drift{Added: []string{"tool b", "tool c"}, Removed: []string{"tool a"}, Changes: []Change{
				{Capability: "tool b", Field: "description", After: "Reads."}, {Capability: "tool c", Field: "description", After: "Reads."}}}},
		"another kind": {tools(item("a", "Reads.", "{}")), Manifest{Prompts: []Item{item("b", "Reads.", "{}")}},
			Drift{Added: []string{"prompt b"}, Removed: []string{"tool a"}, Changes: []Change{{Capability: "prompt b", Field: "description", After: "Reads."}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Diff(c.before, c.after)); diff != "" {
				t.Error(diff)
			}
			if d := DiffByName(c.before, c.after); len(d.Renamed) > 0 || len(d.Removed) != 1 {
				t.Errorf("by name: %+v", d)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []Change
	}{
		"the same":      {`{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`, nil},
		"null":          {`{"a":null}`, `{}`, []Change{{Field: "a", Before: "null"}}},
		"other type":    {`{"a":"5"}`, `{"a":5}`, []Change{{Field: "a", Before: `"5"`, After: "5"}}},
		"empty text":    {`{}`, `{"a":""}`, []Change{{Field: "a", After: `""`}}},
		"strange keys":  {`{"a b":{"":1}}`, `{"a b":{"":2}}`, []Change{{Field: `["a b"][""]`, Before: "1", After: "2"}}},
		"by position":   {`{"anyOf":[{"a":1},{"b":1}]}`, `{"anyOf":[{"a":1},{"b":2},{}]}`, []Change{{Field: "anyOf[1].b", Before: "1", After: "2"}, {Field: "anyOf[2]", After: "{}"}}},
		"by name":       {`{"x":[{"name":"a"},{"name":"b"}]}`, `{"x":[{"name":"b"}]}`, []Change{{Field: "x.a", Before: `{"name":"a"}`}}},
		"same name":     {`{"x":[{"name":"a"},{"name":"a"}]}`, `{"x":[{"name":"a"}]}`, []Change{{Field: "x[1]", Before: `{"name":"a"}`}}},
		"no JSON":       {`{`, `{}`, []Change{{Field: "definition"}}},
		"one not known": {``, `{}`, []Change{{Field: "definition"}}},
		"many words": {`{"enum":["` + strings.Repeat("x", 600) + `","a"]}`, `{"enum":["` + strings.Repeat("x", 600) + `","b"]}`,
			[]Change{{Field: "enum", Before: `["a"]`, After: `["b"]`}}},
	} {
		t.Run(name, func(t *testing.T) {
			var d differ
			d.definition("", c.before, c.after)
			if diff := cmp.Diff(c.want, d.changes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExcerpts(t *testing.T) {
	sentence := strings.Repeat("one two three four five six seven eight nine ten ", 20)
	word := strings.Repeat("x", 3000)
	for name, c := range map[string]struct{ before, after, from, to string }{
		"short":     {"a b c", "a d c", "a b c", "a d c"},
		"one word":  {sentence + "old" + " " + sentence, sentence + "new " + sentence, "…seven eight nine ten old one two three four …", "…seven eight nine ten new one two three four …"},
		"at an end": {sentence, sentence + "And more.", "…seven eight nine ten ", "…seven eight nine ten And more."},
		"two words": {"old " + sentence + "old", "new " + sentence + "new", "old one two three four …seven eight nine ten old", "new one two three four …seven eight nine ten new"},
		"in a word": {word + "a", word + "b", "…" + word[:context] + "a", "…" + word[:context] + "b"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := excerpts(c.before, c.after)
			if from != c.from || to != c.to {
				t.Errorf("%q\n%q", from, to)
			}
		})
	}
}

// What is beyond the caps of either report is said not to be known, and what both
// have is compared.
func TestCutTexts(t *testing.T) {
	long := strings.Repeat("ab ", 300)
	for name, c := range map[string]struct {
		before, after string
		want          int
	}{
		"both to the same": {long + "…", long + "…", 1},
		"one further":      {long[:90] + "…", long, 1},
		"the other":        {long, long[:90] + "…", 1},
		"and another text": {"x" + long[:90] + "…", long, 2},
		"ended before":     {long[:90], long + "…", 2},
	} {
		var d differ
		d.text("tool a", "description", c.before, c.after)
		if len(d.changes) != c.want {
			t.Errorf("%s: %+v", name, d.changes)
		}
		if last := d.changes[len(d.changes)-1]; last.Before != "" || last.After != "" {
			t.Errorf("%s: the end is %+v", name, last)
		}
	}
}

// A large manifest of which everything changed is compared to its end.
func TestDiffIsBounded(t *testing.T) {
	many := func(word string) Manifest {
		var m Manifest
		for i := range 20000 {
			m.Tools = append(m.Tools, Item{Name: fmt.Sprint(word[:1], i), Description: strings.Repeat(word, 300), Definition: `{"x":"` + word + `"}`, Digest: word})
		}
		return m
	}
	d := Diff(many("word "), many("werd "))
	if len(d.Changed) != 20000 || len(d.Changes) != MaxChanges {
		t.Errorf("%d changed, %d changes", len(d.Changed), len(d.Changes))
	}
	d = Diff(many("abc "), many("xyz "))
	if len(d.Added) != 20000 || len(d.Removed) != 20000 {
		t.Errorf("%d added, %d removed", len(d.Added), len(d.Removed))
	}
	described := func(prefix string) Manifest {
		var m Manifest
		for i := range 20000 {
			m.Tools = append(m.Tools, Item{Name: fmt.Sprint(prefix, i), Description: fmt.Sprint(i), Definition: "{}", Digest: prefix})
		}
		return m
	}
	if d = Diff(described("a"), described("b")); len(d.Renamed) != 20000 || len(d.Added)+len(d.Removed) > 0 {
		t.Errorf("%d renamed, %d added, %d removed", len(d.Renamed), len(d.Added), len(d.Removed))
	}
}

func FuzzDiff(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"inputSchema":{"properties":{"a":{"enum":["x","y"]}}}}`, `{"inputSchema":{"properties":{"a":{"enum":["y"]},"b":{}}}}`},
		{`{"arguments":[{"name":"a"},{"name":"b","required":true}]}`, `{"arguments":[{"name":"b"}]}`},
		{strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60), strings.Repeat(`[`, 61) + strings.Repeat(`]`, 61)},
		{"Reads a note.", "Reads a n\xffote.\u200b"},
		{strings.Repeat("a ", 300), strings.Repeat("b a ", 200)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		was := tools(Item{Name: "a", Description: before, Definition: before, Digest: "1"})
		is := tools(Item{Name: "a", Description: after, Definition: after, Digest: "2"})
		d := Diff(was, is)
		if len(d.Changed) != 1 || len(d.Changes) > MaxChanges {
			t.Fatalf("%d changed, %d changes", len(d.Changed), len(d.Changes))
		}
		for _, c := range d.Changes {
			if len(c.Before) > MaxChangeBytes || len(c.After) > MaxChangeBytes || !utf8.ValidString(c.Before+c.After) {
				t.Errorf("%+v", c)
			}
		}
		if json.Valid([]byte(before)) && before != "" && before == after && len(before) <= MaxDefinition && !strings.HasSuffix(before, CutMark) && len(d.Changes) > 0 {
			t.Errorf("the same differs: %+v", d.Changes)
		}
		if s := manifestChanged(Report{Manifest: was}, Report{Manifest: is}, d).Message; s == "" {
			t.Error("no message")
		}
	})
}
