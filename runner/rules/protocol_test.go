package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
)

func TestBreaches(t *testing.T) {
	for name, tc := range map[string]struct {
		breach breach.Breach
		want   string
	}{
		"a cursor again": {
			breach.Breach{Kind: breach.CursorTwice, Count: 1, Sample: `tools/list: the cursor "a"`},
			`PROTOCOL-002 Medium: A list leads back to a page that it had shown: "tools/list: the cursor "a"".`,
		},
		"a long list":  {breach.Breach{Kind: breach.LongList, Count: 1, Sample: "x"}, "PROTOCOL-002 Low"},
		"a long line":  {breach.Breach{Kind: breach.Oversized, Count: 1, Sample: "x"}, "PROTOCOL-003 Low"},
		"broken JSON":  {breach.Breach{Kind: breach.Malformed, Count: 3, Sample: "{\x1b"}, `PROTOCOL-004 Low: The server sent 3 messages that are not well-formed, first "{?".`},
		"no name":      {breach.Breach{Kind: breach.Nameless, Count: 1, Sample: "x"}, "PROTOCOL-004 Low"},
		"two answers":  {breach.Breach{Kind: breach.Twice, Count: 1, Sample: "x"}, "PROTOCOL-005 Medium"},
		"unasked":      {breach.Breach{Kind: breach.Unasked, Count: 1, Sample: "x"}, "PROTOCOL-005 Medium"},
		"two tools":    {breach.Breach{Kind: breach.SameName, Count: 1, Sample: "greet"}, `PROTOCOL-006 Medium: The server lists two different tools of one name: "greet".`},
		"a tool twice": {breach.Breach{Kind: breach.SameTool, Count: 1, Sample: "greet"}, "PROTOCOL-006 Low"},
		"a flood":      {breach.Breach{Kind: breach.Flood, Count: 1, Sample: "x"}, "PROTOCOL-007 Low"},
		"unread":       {breach.Breach{Kind: breach.Unread, Count: 2, Sample: "x"}, "PROTOCOL-007 Low"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(silent)
			tc.breach.Capability = report.Capability{Kind: report.CapabilityServer}
			in.Breaches = []breach.Breach{tc.breach}
			expect(t, in, tc.want)
		})
	}
	if len(breaches) != 11 {
		t.Error("a kind of breach has no test here")
	}
}
