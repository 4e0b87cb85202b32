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
			if len(all) != PollutionForms || !all[0].Control || all[1].Control || string(all[1].Arguments) != tc.want || strings.Contains(string(all[1].Without), all[1].Field) {
				t.Fatalf("calls %+v, want %s", all, tc.want)
			}
			if control := string(all[0].Arguments); strings.Contains(control, "proto") || !strings.Contains(control, "marlow-c1") {
				t.Errorf("control %s", control)
			}
		})
	}
}
