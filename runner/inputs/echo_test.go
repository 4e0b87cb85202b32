package inputs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// However a server quotes what it was sent, no later call is made with that and the quotes;
// whether it complains of one value or of the whole call.
func TestEchoesAreNoAdvice(t *testing.T) {
	quoted := func(times int) func(string) string {
		return func(text string) string {
			for range times {
				text = strconv.Quote(text)
			}
			return "failed to get " + text
		}
	}
	const schema = `{"properties":{"kind":{"type":"string","description":"such as 'weekly' or 'say \"hi\"'"},"silence":{"type":"string"}},"required":["kind","silence"]}`
	for name, refuse := range map[string]func(string) string{
		"quoted":       quoted(1),
		"quoted twice": quoted(2),
		"quoted often": quoted(6),
		"a path": func(text string) string {
			return fmt.Sprintf("Get %q: not found", "/api/v2/"+url.PathEscape(text))
		},
		"a URL":         func(text string) string { return fmt.Sprintf("Get 'http://a.test/%s': bad", text) },
		"to be used":    func(text string) string { return "failed to use 'kind:" + text + "'" },
		"the use of it": func(text string) string { return "Use of 'kind:" + text + "' is denied" },
		"not to use":    func(text string) string { return "cannot pass 'kind:" + text + "'; it is not known" },
		"a name":        func(text string) string { return "not a valid kind: 'items:" + text + "'" },
		"HTML":          func(text string) string { return "unknown 'kind=&quot;" + text + "&quot;'" },
		"in JSON": func(text string) string {
			b, _ := json.Marshal(map[string]string{"error": "no kind named '/items/" + text + "' here"})
			return string(b)
		},
	} {
		pool := NewPool()
		f := NewForm(json.RawMessage(schema), Options{About: "get_kind"})
		other := NewForm(json.RawMessage(`{"properties":{"kind":{"type":"string"}},"required":["kind"]}`), Options{About: "find_kind"})
		for call := range 24 {
			for _, form := range []*Form{f, other} {
				c, ok := form.Next(pool, Mark{Call: call})
				if !ok || !c.Shape.Proper() {
					continue
				}
				var sent struct{ Kind string }
				if json.Unmarshal(c.Arguments, &sent) != nil || strings.ContainsAny(strings.Trim(sent.Kind, "*"), `\/%&`) || strings.HasPrefix(sent.Kind, "items:") {
					t.Errorf("%s: call %d sends its own value again: %s", name, call, c.Arguments)
				}
				text := refuse(sent.Kind)
				pool.Error("tool get_kind", text, c)
				form.Refused(c, text)
			}
		}
	}
}

// What an error offers that has the refused value in it is taken where it says that it is advice.
func TestAdviceMayHoldTheValue(t *testing.T) {
	for refusal, want := range map[string]string{
		"no file named 'weekly'. Did you mean 'weekly.md'?":            "weekly.md",
		"unknown kind weekly: use 'report/weekly'":                     "report/weekly",
		"bad kind 'weekly'. Please provide \"report/weekly\".":         "report/weekly",
		"weekly has no owner (e.g. 'owner/weekly')":                    "owner/weekly",
		"invalid kind 'weekly', must be given as 'owner:weekly'":       "owner:weekly",
		"'weekly' is not a valid kind: 'weekly'.\nAvailable: weeklies": "weeklies",
	} {
		f := NewForm(json.RawMessage(`{"properties":{"kind":{"type":"string","description":"such as 'weekly'"}},"required":["kind"]}`), Options{About: "get"})
		c, _ := f.Next(nil, Mark{})
		f.Refused(c, refusal)
		if c, _ = f.Next(nil, Mark{Call: 1}); string(c.Arguments) != `{"kind":"`+want+`"}` {
			t.Errorf("%s: %s, want %s", refusal, c.Arguments, want)
		}
	}
}
