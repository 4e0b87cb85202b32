package breach

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

func TestRecord(t *testing.T) {
	var r Record
	r.Add(Oversized, strings.Repeat("x", 300), 150)
	r.Add(Twice, "first", 150)
	r.Add(Twice, "second", 200)
	r.Add(Unasked, "late", 500)
	tool := report.Capability{Kind: report.CapabilityTool, Name: "greet"}
	server := report.Capability{Kind: report.CapabilityServer}
	got := r.Located(ledger.Ledger{
		{Phase: report.PhaseHandshake, Capability: server, Received: 100},
		{Phase: report.PhaseCall, Capability: tool, Received: 200},
	})
	for i, want := range []Breach{
		{Kind: Oversized, Count: 1, Sample: strings.Repeat("x", MaxSample-len(report.CutMark)) + report.CutMark, Phase: report.PhaseCall, Capability: tool},
		{Kind: Twice, Count: 2, Sample: "first", Phase: report.PhaseHandshake, Capability: server},
		{Kind: Unasked, Count: 1, Sample: "late", Phase: report.PhaseShutdown, Capability: server},
	} {
		if got[i].Time.IsZero() {
			t.Errorf("%s has no time", got[i].Kind)
		}
		got[i].Time, got[i].at = want.Time, 0
		if got[i] != want {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
}

func TestAnswers(t *testing.T) {
	var a Answers
	a.Sent("1")
	for _, tc := range []struct {
		id   string
		want Kind
	}{
		{"2", Unasked}, {`"1"`, Unasked}, {"1", ""}, {"1", Twice}, {"1", Twice}, {"2", Unasked},
	} {
		if got := a.Came(tc.id); got != tc.want {
			t.Errorf("Came(%s) = %q, want %q", tc.id, got, tc.want)
		}
	}
	a.Sent("3")
	a.GivenUp("3")
	a.GivenUp("4")
	if late, cancelled, again, never := a.Came("3"), a.Came("3"), a.Came("3"), a.Came("4"); late != "" || cancelled != "" || again != Twice || never != Unasked {
		t.Errorf("the answers to a cancelled request are %q, %q and %q, and to none %q", late, cancelled, again, never)
	}
	a.Sent("2")
	if got := a.Came("2"); got != "" {
		t.Errorf("an answer is %q because others came too early", got)
	}
}
