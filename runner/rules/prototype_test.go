package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// polluting has a tool whose argument another tool then found.
func polluting() Input {
	in := input(silent)
	in.Attack.Polluted = []attack.Polluted{{Of: call.Capability, Field: "settings", Form: `by the key "__proto__"`,
		By: report.Capability{Kind: report.CapabilityTool, Name: "greet"}, Answer: "Hello marlow-c7"}}
	return in
}

func TestPolluted(t *testing.T) {
	expect(t, polluting(), `EXEC-006 High: Tool format_note merged its argument "settings" into the prototype of all objects, by the key "__proto__": `+
		`tool greet, called without such an argument, answered "Hello marlow-c7"`)
}

var _ = prove(map[string]proof{"MCPA-EXEC-006": {finds: []Input{polluting()}, spares: []Input{input(silent)}}})
