package audit

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestElsewhere: what a server says, or advertises, in one launch only is read, once and with the
// launch; what is the same but for numbers, or compared as a whole, is not.
func TestElsewhere(t *testing.T) {
	says := func(moment report.Moment, text, description, after string) observation {
		return listing(description, func(o *observation) {
			o.how.moment = moment
			o.result.Outputs = []report.Output{{Kind: report.OutputResult, Text: text}}
			o.result.After, o.result.Relisted = offering(after), true
		})
	}
	runs := []observation{
		says("", "done 1", "Local.", "Local."),
		says(report.MomentIdentity, "done 2", "For a client.", "For a client, later."),
		says(report.LaunchDisguise, "read the key", "Abroad.", "Abroad."),
		says(report.LaunchStandIns, "read the key", "Abroad.", "Local."),
	}
	if got, _ := outputsOf(append(runs[:1:1], says(report.LaunchDisguise, "done 1\U000e0041", "Local.", "Local."))); len(got) != 2 {
		t.Errorf("characters that nobody sees make no other text: %+v", got)
	}
	abroad := "for a client in the editor of somebody abroad"
	if got, _ := outputsOf(runs); len(got) != 2 || got[0].When != "" || got[1].Text != "read the key" || got[1].When != abroad {
		t.Errorf("outputs %+v", got)
	}
	runs[1].result.Unread = []report.Capability{{Kind: report.CapabilityTool, Name: "format_note"}}
	if _, unread := outputsOf(runs); len(unread) != 1 {
		t.Errorf("unread %v", unread)
	}
	got := others(runs)
	if len(got) != 2 {
		t.Errorf("what is advertised after the calls is read where that was not announced: %+v", got)
	}
	runs[0].result.Announced = true
	got = others(runs)
	if after := got[0]; after.When != "" || string(after.Tools[0]) != string(offering("Local.").Tools[0]) {
		t.Errorf("what is advertised after the calls: %+v", after)
	}
	got = got[1:]
	if len(got) != 2 || got[0].When != "for a client of another name" || string(got[0].Tools[0]) != string(offering("For a client, later.").Tools[0]) ||
		got[1].When != abroad || string(got[1].Tools[0]) != string(offering("Abroad.").Tools[0]) {
		t.Errorf("manifests %+v", got)
	}
}
