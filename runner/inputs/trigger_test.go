package inputs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/runner/sources"
)

func TestTriggers(t *testing.T) {
	const schema = `{"properties": {"text": {"type": "string"}, "accessMode": {"type": "string"}, "page": {"type": "integer"},
		"tags": {"type": "array"}, "kind": {"enum": ["a"]}}}`
	text, named := sources.Comparison{Name: "w", Value: "iban"}, sources.Comparison{Name: "access_mode", Value: "night"}
	for name, tc := range map[string]struct {
		arguments, given string
		compared         []sources.Comparison
		want             []string
	}{
		"a text":                  {`{"text": "milk", "page": 1}`, "", []sources.Comparison{text}, []string{`{"page":1,"text":"iban"}`}},
		"an argument of its name": {`{"text": "milk"}`, "", []sources.Comparison{named}, []string{`{"accessMode":"night","text":"milk"}`}},
		"neighbours of a number": {`{"text": "milk"}`, "", []sources.Comparison{{Name: "page", Value: "13", Number: true}},
			[]string{`{"page":13,"text":"milk"}`, `{"page":14,"text":"milk"}`, `{"page":12,"text":"milk"}`}},
		"combinations": {`{}`, "", []sources.Comparison{named, {Name: "tags", Value: "x"}, {Name: "tags", Value: "y"}},
			[]string{`{"accessMode":"night","tags":["x"]}`, `{"accessMode":"night","tags":["y"]}`}},
		"all together": {`{"text": "milk"}`, "", []sources.Comparison{text, {Value: "swift"}},
			[]string{`{"text":"iban"}`, `{"text":"swift"}`, `{"text":"iban swift"}`}},
		"an expression":                  {`{"text": "milk"}`, "", []sources.Comparison{{Value: `^XR-\d{4}$`, Pattern: true}}, []string{`{"text":"XR-1111"}`}},
		"a host that is not the audit's": {`{"text": "milk"}`, "", []sources.Comparison{{Value: "https://evil.dev/x"}}, []string{`{"text":"https://c7.pages.example.net/notes"}`}},
		"no made-up text":                {`{"text": "python"}`, "", []sources.Comparison{text}, []string{`{"text":"iban"}`}},
		"a path":                         {`{"text": "/tmp/a"}`, "", []sources.Comparison{text}, nil},
		"a set":                          {`{"text": "milk"}`, "", []sources.Comparison{{Name: "kind", Value: "b"}}, nil},
		"a command":                      {`{"text": "milk", "command": "ls"}`, "", []sources.Comparison{{Name: "command", Value: "rm -rf /"}}, []string{`{"command":"ls","text":"rm -rf /"}`}},
		"given":                          {`{"text": "milk", "accessMode": "day"}`, `{"accessMode": "day", "text": "milk"}`, []sources.Comparison{named, text}, nil},
		"nothing":                        {`{"text": "milk"}`, "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			next := NewTriggers(json.RawMessage(schema), json.RawMessage(tc.arguments), sources.Values{Compared: tc.compared}, Options{Given: json.RawMessage(tc.given)})
			var got []string
			for arguments, more := next.Next(Mark{Call: 7}); more; arguments, more = next.Next(Mark{Call: 7}) {
				got = append(got, string(arguments))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTriggersOfWords: all words of code and data come in a few texts.
func TestTriggersOfWords(t *testing.T) {
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
	}
	next := NewTriggers(nil, json.RawMessage(`{"text": "milk"}`), sources.Values{Words: words}, Options{})
	calls, told := 0, ""
	for arguments, more := next.Next(Mark{}); more; arguments, more = next.Next(Mark{}) {
		calls, told = calls+1, told+string(arguments)
	}
	if calls > 6 || !strings.Contains(told, "word0 ") || !strings.Contains(told, `word999"`) {
		t.Errorf("%d calls with %d bytes", calls, len(told))
	}
}
