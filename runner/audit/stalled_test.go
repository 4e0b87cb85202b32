package audit

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestStalled: what answers at once, and in other surroundings not at all, may wait there until
// nobody looks: no Pass. What was not called there for want of time, or because the server had
// ended, is a gap.
func TestStalled(t *testing.T) {
	note := report.Capability{Kind: report.CapabilityTool, Name: "format_note"}
	row := func(skipped string) []report.CapabilityCoverage {
		return []report.CapabilityCoverage{{Kind: note.Kind, Name: note.Name, Skipped: skipped, Calls: report.Share{Total: 1, Done: 1}}}
	}
	first := watched(func(o *observation) {
		o.result.Exercise, o.result.Prompt = row(""), map[report.Capability]bool{note: true}
	})
	silent := func(o *observation) {
		o.result.Exercise, o.result.Stalled = row(report.SkippedTimeout), []report.Capability{note}
	}
	hung := func(o *observation) {
		incompleteProbe(report.ReasonTimeout, "no answer to initialize within 30s")(o)
		o.result.Listed, o.took = false, mostOptional
	}
	for name, tc := range map[string]struct {
		moment report.Moment
		change func(*observation)
		reason report.Reason
		gap    string
	}{
		"answers":                      {report.MomentClock, func(o *observation) { o.result.Exercise = row("") }, "", ""},
		"stalls at a later date":       {report.MomentClock, silent, report.ReasonTimeout, "UncalledAgain"},
		"stalls for another client":    {report.MomentIdentity, silent, report.ReasonTimeout, "UncalledAgain"},
		"stalls abroad":                {report.LaunchDisguise, silent, report.ReasonTimeout, "UncalledAgain"},
		"stalls as a week goes by":     {report.LaunchWeek, silent, "", "UncalledAgain"},
		"stalls without network":       {report.LaunchRefused, silent, "", ""},
		"does not start":               {report.MomentClock, hung, report.ReasonTimeout, "ClockNotShifted"},
		"does not start, in no time":   {report.MomentClock, func(o *observation) { hung(o); o.took = 0 }, "", "ClockNotShifted"},
		"ends":                         {report.MomentClock, func(o *observation) { o.result.Exercise = row(report.SkippedUnanswered) }, "", "UncalledAgain"},
		"not called for want of time":  {report.MomentClock, func(o *observation) { o.result.Exercise = row(report.SkippedBudget) }, "", "UncalledAgain"},
		"left out because of the name": {report.MomentClock, func(o *observation) { o.result.Exercise = row(report.SkippedByName) }, "", ""},
	} {
		again := watched(func(o *observation) { o.how.moment = tc.moment }, tc.change)
		runs := []observation{first, again}
		if got := incomplete(runs); got.Reason != tc.reason {
			t.Errorf("%s: %+v, want %q", name, got, tc.reason)
		}
		var what string
		for _, g := range gaps(nil, runs, observation{}, observation{}, report.NetworkSinkhole) {
			what = g.What
		}
		if what != tc.gap {
			t.Errorf("%s: the gap is %q, want %q", name, what, tc.gap)
		}
	}
	again := launch{}
	callAgain(Plan{}, &again, []observation{first})
	if !(Plan{}).options(again).Prompt[note] {
		t.Error("it is not waited for what answered at once")
	}
}
