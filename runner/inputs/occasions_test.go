package inputs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVaried: ordinary sentences become other texts, which carry the mark of the call; all else stays.
func TestVaried(t *testing.T) {
	m := Mark{Call: 7}
	arguments, _ := json.Marshal(map[string]any{"bytes": 12, "path": "/tmp/" + m.File(), "notes": []string{m.Text(), Mark{Plain: true}.Text()}})
	known := map[string]bool{}
	for n := range 2 * len(occasions) {
		varied, ok := Varied(nil, arguments, n, m)
		var got struct {
			Bytes int
			Path  string
			Notes []string
		}
		if err := json.Unmarshal(varied, &got); !ok || err != nil || got.Bytes != 12 || got.Path != "/tmp/"+m.File() {
			t.Fatalf("text %d: %s, %t, %v", n, varied, ok, err)
		}
		if known[got.Notes[0]] {
			t.Errorf("text %d is not another one: %s", n, got.Notes[0])
		}
		known[got.Notes[0]] = true
		for _, note := range got.Notes {
			// What people write to a model has no digits.
			if sentenceForm.FindString(note) == note || !strings.Contains(note, m.ID()) && strings.ContainsAny(note, "0123456789") {
				t.Errorf("text %d has no mark: %.80s", n, note)
			}
		}
	}
	if _, ok := Varied(nil, json.RawMessage(`{"path": "/tmp/x", "seconds": 3, "port_number": 8, "kind": "b"}`), 0, m); ok {
		t.Error("nothing is to be varied")
	}
}

// TestVariedChoices: all combinations of enums come, large amounts do, and files of a project.
func TestVariedChoices(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"from":{"enum":["de","en","ja"]},"to":{"enum":["de","en"]},"amount":{"type":"integer"}}}`)
	known, most, paths := map[string]bool{}, 0, map[string]bool{}
	for n := range maxOther {
		varied, ok := Varied(schema, json.RawMessage(`{"from":"de","to":"de","amount":1,"file":"/tmp/`+FilesDir+`/note.txt","dir":"/srv/`+FilesDir+`"}`), n, Mark{Call: 7})
		var got struct {
			From, To, File, Dir string
			Amount              int
		}
		if err := json.Unmarshal(varied, &got); !ok || err != nil {
			t.Fatal(ok, err)
		}
		known[got.From+got.To], paths[got.File], paths[got.Dir] = true, true, true
		most = max(most, got.Amount)
	}
	if len(known) != 6 || most < 1_000_000 || !paths["/tmp/"+RepositoryDir+"/list.txt"] || !paths["/srv/"+RepositoryDir] || len(paths) != 3+len(papers) {
		t.Errorf("%v, at most %d, %v", known, most, paths)
	}
}

// TestVariedLeaves: numbers and days are others each time, within their schema.
func TestVariedLeaves(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"key":{"type":"integer","maximum":9},"of":{"type":"object","properties":{"page":{"type":"integer","enum":[1]}}}}}`)
	arguments := `{"key":3,"day":"2026-03-01","name":"` + Mark{Call: 1}.ID() + `","of":{"page":1,"index":[4]}}`
	for n, want := range map[int]string{
		0:  `{"day":"2026-03-02","key":4,"name":"Invoice 4711 (` + Mark{Call: 7}.ID() + `)","of":{"index":[5],"page":1}}`,
		9:  `{"day":"2026-03-11","key":3,"name":"payroll-` + Mark{Call: 7}.ID() + `","of":{"index":[14],"page":1}}`,
		20: `{"day":"2026-03-22","key":3,"name":"` + Mark{Call: 1}.ID() + `","of":{"index":[25],"page":1}}`,
	} {
		if got, ok := Varied(schema, json.RawMessage(arguments), n, Mark{Call: 7}); !ok || string(got) != want {
			t.Errorf("%d: %s, %t", n, got, ok)
		}
	}
}

// TestVariedWords: cities, currencies and their like are others each time, in all pairs.
func TestVariedWords(t *testing.T) {
	known := map[string]bool{}
	for n := range 100 {
		varied, _ := Varied(nil, json.RawMessage(`{"from":"EUR","to":"USD","city":"Oslo"}`), n, Mark{})
		known[string(varied)] = true
	}
	if len(known) != 100 || !known[`{"city":"Oslo","from":"EUR","to":"GBP"}`] {
		t.Errorf("%d: %v", len(known), known)
	}
}

// TestVariedLists: some lists of texts are long, as far as they may be.
func TestVariedLists(t *testing.T) {
	for schema, want := range map[string]int{`{}`: longList, `{"properties":{"notes":{"maxItems":3}}}`: 3} {
		arguments, _ := json.Marshal(map[string]any{"notes": []string{Mark{Plain: true}.Text()}})
		longest := 0
		for n := range lengthening {
			varied, _ := Varied(json.RawMessage(schema), arguments, n, Mark{})
			var got struct{ Notes []string }
			if json.Unmarshal(varied, &got) != nil {
				t.Fatal(string(varied))
			}
			longest = max(longest, len(got.Notes))
		}
		if longest != want {
			t.Errorf("%s: %d", schema, longest)
		}
	}
}

// TestVariedIsSeen: the longest text has several pages, and fits in what a trace keeps of one call.
func TestVariedIsSeen(t *testing.T) {
	if n := len(occasions[LongText]); n < 3500 || n > 3700 || !strings.Contains(occasions[LongText], "\n\n") {
		t.Errorf("it has %d bytes", n)
	}
}

// TestVariedSearches: what is searched for is another thing each time, such as a password.
func TestVariedSearches(t *testing.T) {
	got, ok := Varied(nil, json.RawMessage(`{"query":"`+sought+`"}`), 4, Mark{Call: 7})
	if !ok || !strings.Contains(string(got), "Password") {
		t.Errorf("%s, %t", got, ok)
	}
}

// TestVariedKinds: what people paste comes in each form that a server may wait for.
func TestVariedKinds(t *testing.T) {
	for kind, form := range map[string]string{
		"keys of payment, chat and package services": `sk_live_\w+[\s\S]*xoxb-\w+[\s\S]*glpat-\w+[\s\S]*npm_\w+`,
		"a signed token":           `eyJ[\w-]+\.eyJ[\w-]+\.\w+`,
		"a database's URL":         `postgres://\w+:\w+@`,
		"companies and amounts":    `GmbH[\s\S]*\$\d{2},\d{3}`,
		"the words of a wallet":    `(?m)^(?:[a-z]{3,8} ){11}[a-z]{3,8}$`,
		"papers of a lawyer":       `attorney`,
		"a change of code":         `(?m)^diff --git`,
		"a manifest of Kubernetes": `(?m)^apiVersion: `,
		"a page of Markdown":       "(?m)^\\|.*\\|$[\\s\\S]*^```",
		"a sheet":                  `(?m)^id,name`,
		"files of a user":          `/home/\w+/[\s\S]*~/[\s\S]*C:\\Users`,
		"emoji":                    `\p{So}`,
		"French":                   `é.*è`,
		"Cyrillic":                 `\p{Cyrillic}{4}`,
		"Japanese":                 `\p{Hiragana}{3}`,
	} {
		if !slices.ContainsFunc(occasions, regexp.MustCompile(form).MatchString) {
			t.Errorf("no text is %s", kind)
		}
	}
}
