package attack

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestPollutions: the object holds the mark below the keys of a prototype, under the names of arguments, and is left
// out of the calls that follow.
func TestPollutions(t *testing.T) {
	for name, tc := range map[string]struct{ schema, honest, want string }{
		"an object": {`{"properties":{"settings":{"type":"object"}}}`, `{"settings":{"a":"b"},"other":"x"}`,
			`{"other":"x","settings":{"__proto__":{"person":"marlow-c2","settings":{"marlow-c2":"1"}},"a":"b"}}`},
		"one in a text": {`{"properties":{"settings":{"type":"string"}}}`, `{"settings":"{\"a\":\"b\"}","other":"x"}`,
			`{"other":"x","settings":"{\"__proto__\":{\"person\":\"marlow-c2\",\"settings\":\"{\\\"marlow-c2\\\":\\\"1\\\"}\"},\"a\":\"b\"}"}`},
		"a way to a key": {`{"properties":{"key":{"type":"string"},"value":{"type":"string"}}}`, `{"key":"ui.theme","value":"dark","other":"x"}`,
			`{"key":"__proto__.key","other":"x","value":"marlow-c2"}`},
		"a way to a key in an object": {`{"properties":{"change":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}}}}}`, `{"change":{"key":"ui.theme","value":"dark"},"other":"x"}`,
			`{"change":{"key":"__proto__.key","value":"marlow-c5"},"other":"x"}`},
		"a way to a key in a list": {`{"properties":{"changes":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}}}}}}`, `{"changes":[{"key":"ui.theme","value":"dark"}]}`,
			`{"changes":[{"key":"__proto__.key","value":"marlow-c2"}]}`},
		"a way to a key that is left out": {`{"properties":{"change":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}}}}}`, `{"other":"x"}`,
			`{"change":{"key":"__proto__.key","value":"marlow-c5"},"other":"x"}`},
		"a key without a value": {`{"properties":{"key":{"type":"string"}}}`, `{"key":"ui.theme"}`, ""},
		"a text":                {`{"properties":{"settings":{"type":"string"}}}`, `{"settings":"a"}`, ""},
		"a list":                {`{"properties":{"settings":{"type":"array"}}}`, `{"settings":["a"]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			call := 0
			next := func() inputs.Mark { call++; return inputs.Mark{Call: call} }
			target := Target{Of: report.Capability{Kind: report.CapabilityTool, Name: "t"}, Schema: json.RawMessage(tc.schema), Honest: json.RawMessage(tc.honest)}
			all := Plan{}.Pollutions(target, []string{"person", "settings", "then", "__proto__"}, next)
			if len(all) == 0 && tc.want == "" {
				return
			}
			if len(all) == 2*PollutionForms { // for the object, and for a key in it
				all = all[PollutionForms:]
			}
			if len(all) != PollutionForms || !all[0].Control || all[1].Control || string(all[1].Arguments) != tc.want || strings.Contains(string(all[1].Without), all[1].Field) {
				t.Fatalf("calls %+v, want %s", all, tc.want)
			}
			if control := string(all[0].Arguments); strings.Contains(control, "proto") || !strings.Contains(control, all[0].Mark) {
				t.Errorf("control %s", control)
			}
		})
	}
}

// TestStrayed: a member that no tool makes, with the mark as its value, was inherited.
func TestStrayed(t *testing.T) {
	for result, want := range map[string]bool{
		`{"content":[{"type":"text","text":"ok"}],"key":"marlow-c2"}`:                      true,
		`{"content":[],"isError":true,"key":"marlow-c2"}`:                                  true,
		`{"content":[],"key":"marlow-c1"}`:                                                 false,
		`{"content":[],"structuredContent":{"key":"marlow-c2"},"_meta":{"a":"marlow-c2"}}`: false,
		`{"content":[{"type":"text","text":"marlow-c2"}],"meta":{"key":"marlow-c2"}}`:      false,
		``: false,
	} {
		if got := Strayed(json.RawMessage(result), "marlow-c2"); got != want {
			t.Errorf("%s: %v", result, got)
		}
	}
}
