package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestRefusals: a session shows a call that its server refuses, which another session repeats.
func TestRefusals(t *testing.T) {
	refused := 0
	f := func() *fake {
		return &fake{on: map[string]func(*fake, map[string]any) any{
			"tools/call": func(_ *fake, params map[string]any) any {
				arguments, _ := params["arguments"].(map[string]any)
				if text, _ := arguments["note"].(string); strings.Contains(text, "IBAN") {
					refused++
					return rpcFailure{-32077, "too much"}
				}
				return content("done")
			},
		}}
	}
	first := f().probe(t, enduring())
	var shown struct{ Note string }
	if err := json.Unmarshal(first.Refused["format_note"], &shown); err != nil || !strings.Contains(shown.Note, "IBAN") || refused == 0 {
		t.Fatalf("refused %s, %v", first.Refused["format_note"], err)
	}
	refused = 0
	o := quick
	o.Refused = first.Refused
	if r := f().probe(t, o); refused != mostRefusals || r.Incomplete.Reason != "" {
		t.Errorf("%d refusals, %+v", refused, r.Incomplete)
	}
}

// TestFurthers: of calls that were all refused, the one with most in it is made again, not one that was refused for its shape.
func TestFurthers(t *testing.T) {
	form, of := inputs.NewForm(json.RawMessage(`{"properties":{"params":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}}`), inputs.Options{}), &target{}
	for {
		c, fresh := form.Next(nil, inputs.Mark{})
		if !fresh {
			break
		}
		if of.furthers(c) {
			of.again = c
		}
	}
	if !of.again.Shape.Proper() || !strings.Contains(string(of.again.Arguments), "text") {
		t.Errorf("%s %s is made again", of.again.Shape, of.again.Arguments)
	}
}
