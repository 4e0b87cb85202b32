package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestStaysAbove: a sibling is a finding only where another directory beside it is closed.
func TestStaysAbove(t *testing.T) {
	refused := attack.Attempt{Of: call.Capability, Family: attack.Path, Field: "path", Value: "/x", Control: true, Call: 1, File: 1, Answered: true}
	sibling := attack.Attempt{Of: call.Capability, Family: attack.Path, Field: "path", Value: "../notes-x", Sibling: true, Call: 2, File: 2, Answered: true, Accepted: true}
	beside := attack.Attempt{Of: call.Capability, Family: attack.Path, Field: "path", Value: "../x", Neighbour: true, Call: 3, File: 3, Answered: true, Accepted: true}
	there, open := read(call, "/srv/notes-marlow-elsewhere/2/note.txt"), read(call, "/srv/marlow-elsewhere-beside/3/note.txt")
	failed, others := open, open
	failed.Error = "EACCES"
	others.Capability = report.Capability{Kind: report.CapabilityTool, Name: "other"}
	for name, tc := range map[string]struct {
		effects []profile.Effect
		want    string
	}{
		"closed":                 {[]profile.Effect{there}, "FILE-003 High"},
		"as open":                {[]profile.Effect{there, open}, ""},
		"stopped by the kernel":  {[]profile.Effect{there, failed}, "FILE-003 High"},
		"open to another tool":   {[]profile.Effect{there, others}, "FILE-003 High"},
		"only the other is open": {[]profile.Effect{open}, ""},
	} {
		in := input(silent)
		in.Attack.Attempts, in.Attack.Profile.Effects, in.Attack.Lures = []attack.Attempt{refused, sibling, beside}, tc.effects, []string{"/srv/notes"}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}
