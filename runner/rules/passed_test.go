package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestPassedOn: what a tool was told leaves in a call of another one, against the tool's own promise.
func TestPassedOn(t *testing.T) {
	passing := func(s server) Input {
		in := input(s)
		in.PassedOn = []PassedOn{{Of: call.Capability, By: otherTLS.Capability, Host: "api.test", Evidence: report.Evidence{Detail: "HTTP to api.test"}}}
		return in
	}
	for want, in := range map[string]Input{
		`EGRESS-001 High: What tool format_note was told left in a call of tool other, to api.test; its description says "Notes never leave this machine."`: passing(
			server{name: "desk", tools: []string{"format_note: Keeps a note. Notes never leave this machine.", "other: Looks up the weather with api.test."}}),
		"": passing(server{name: "desk", tools: []string{"format_note: Keeps a note, which sync sends.", "other: Sends all notes to api.test."}}),
	} {
		expect(t, in, want)
	}
}
