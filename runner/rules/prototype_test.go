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

// TestPollutedServer: the library that writes results, or reads requests, shows what all objects have.
func TestPollutedServer(t *testing.T) {
	for want, shown := range map[string]attack.Polluted{
		"the call's own result has the value as a member beside its content": {Member: true},
		"the call was not answered, and a request for the tools was then":    {Deaf: true},
	} {
		in := polluting()
		in.Attack.Polluted[0].Member, in.Attack.Polluted[0].Deaf = shown.Member, shown.Deaf
		expect(t, in, `EXEC-006 High: Tool format_note merged its argument "settings" into the prototype of all objects, by the key "__proto__": `+want)
	}
}

var _ = prove(map[string]proof{"MCPA-EXEC-006": {finds: []Input{polluting()}, spares: []Input{input(silent)}}})
