package audit

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestMissedFile: a server that ended for want of a file that the sandbox keeps from it
// says so, with what to do about it.
func TestMissedFile(t *testing.T) {
	withheld := func(path string) string {
		if path == "/srv/lib.js" || path == "/home/ann/.x/lib.js" {
			return path + " is kept: do this"
		}
		return ""
	}
	for name, tc := range map[string]struct {
		change func(*observation)
		want   string
	}{
		"refused": {func(o *observation) {
			o.profile.Effects = []profile.Effect{{Fact: profile.Fact{Kind: profile.KindAttempt, Path: "/srv/lib.js", Error: "EACCES"}}}
		}, "/srv/lib.js is kept: do this"},
		"hidden":      {func(o *observation) { o.stderr = "Error: Cannot find module '/home/ann/.x/lib.js'\n" }, "/home/ann/.x/lib.js is kept: do this"},
		"other paths": {func(o *observation) { o.stderr = "thrown by /srv/server.js:1:11" }, "server.js:1:11"},
		"no sandbox":  {func(o *observation) { o.stderr, o.withheld = "cannot open /srv/lib.js", nil }, "cannot open /srv/lib.js"},
	} {
		t.Run(name, func(t *testing.T) {
			o := watched(incompleteProbe(report.ReasonServerExited, "it exited"), func(o *observation) { o.withheld = withheld }, tc.change)
			if got := o.unanswered(); !strings.HasSuffix(got.Message, tc.want) {
				t.Errorf("got %q, want %q at the end", got.Message, tc.want)
			}
		})
	}
}

// TestPassesOn: a server that only forwards to another MCP server says so, whatever the conversation ended with.
func TestPassesOn(t *testing.T) {
	for _, reason := range []report.Reason{report.ReasonTimeout, report.ReasonServerExited, report.ReasonProtocolError} {
		o := watched(incompleteProbe(reason, "no answer"), func(o *observation) { o.caught.remote, o.result.Listed = "mcp.example", false })
		if got := o.unanswered(); got.Reason != reason || !strings.Contains(got.Message, "the MCP server at mcp.example") {
			t.Errorf("%+v", got)
		}
	}
}
