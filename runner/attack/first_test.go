package attack

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestFirst: once a hidden command has succeeded, the same in the open comes next.
func TestFirst(t *testing.T) {
	proven := 0
	p := Plan{Seen: map[report.Capability]Seen{tool: {Programs: true}}, Proven: func(call int) bool { return call == proven }}
	series := p.Against(Target{Of: tool, Schema: json.RawMessage(`{"properties":{"branch":{"type":"string"}}}`), Honest: json.RawMessage(`{"branch":"main"}`)})
	for call := 1; ; call++ {
		a, more := series.Next(inputs.Mark{Call: call})
		switch {
		case !more:
			t.Fatal("no control came")
		case proven > 0 && (call != proven+1 || !a.Control):
			t.Fatalf("%s followed the proof, as call %d", a.Form, call)
		case proven > 0:
			return
		case a.Family == Command && !a.Control:
			proven = a.Call
		}
	}
}
