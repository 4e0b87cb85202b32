package audit

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestGoesOn: that a server ends in the call of one tool is a gap where all the others were
// called in another launch, and their lists compared after that; else it is why nothing more
// is known.
func TestGoesOn(t *testing.T) {
	row := func(name string, total, done int) report.CapabilityCoverage {
		return report.CapabilityCoverage{Kind: report.CapabilityTool, Name: name, Calls: report.Share{Total: total, Done: done}}
	}
	ends := watched(incompleteProbe(report.ReasonServerExited, "the server exited"), func(o *observation) {
		o.result.EndedIn = report.Capability{Kind: report.CapabilityTool, Name: "record"}
		o.result.Exercise = []report.CapabilityCoverage{row("record", 1, 0), row("count", 0, 0)}
		o.result.Coverage.Tools = report.Exercised{Listed: 2, Called: 1, Accepted: 1}
	})
	restart := watched(func(o *observation) { o.how.moment = report.MomentRestart })
	other := func(relisted bool, rows ...report.CapabilityCoverage) observation {
		return watched(func(o *observation) {
			identify(Plan{}, &o.how, []observation{ends})
			o.how.moment, o.result.Relisted, o.result.Exercise = report.MomentIdentity, relisted, rows
		})
	}
	for name, tc := range map[string]struct {
		other observation
		want  report.Reason
	}{
		"goes on":      {other(true, row("count", 4, 1)), ""},
		"not called":   {other(true, row("count", 0, 0)), report.ReasonServerExited},
		"not compared": {other(false, row("count", 4, 1)), report.ReasonServerExited},
	} {
		runs := []observation{ends, restart, tc.other}
		if got := incomplete(runs); got.Reason != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if covered, _ := coverage([]observation{ends, restart, other(true, row("count", 4, 1))}); covered.Tools.Called != 2 || covered.Tools.Accepted != 2 {
		t.Errorf("%+v", covered.Tools)
	}
	odd := ends
	odd.result.EndedOdd, odd.result.Accepted = true, map[string]json.RawMessage{"record": json.RawMessage(`{}`)}
	var how launch
	identify(Plan{}, &how, []observation{odd})
	if got := (Plan{}).options(how); len(got.Skip) != 0 || !got.Proper || got.Endure == 0 || len(got.Given) != 1 {
		t.Errorf("a server that ended at an odd call is spared the rest: %+v", got)
	}
	if got := (Plan{}).options(other(true).how); len(got.Skip) != 1 || got.Skip[0] != "record" {
		t.Errorf("the tool in whose call the server ended is called again: %v", got.Skip)
	}
}
