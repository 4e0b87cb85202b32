package ledger_test

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

var (
	server = report.Capability{Kind: report.CapabilityServer}
	note   = report.Capability{Kind: report.CapabilityTool, Name: "format_note"}
	slow   = report.Capability{Kind: report.CapabilityTool, Name: "never_answers"}
	last   = report.Capability{Kind: report.CapabilityPrompt, Name: "greeting"}
)

// session: initialize [0,100), a notification [100,130), tools/list [130,180),
// two calls, the first of them unanswered, and a prompt.
func session() ledger.Ledger {
	return ledger.Ledger{
		{report.PhaseHandshake, server, "initialize", 0, 100, 400},
		{report.PhaseList, server, "tools/list", 130, 180, 900},
		{report.PhaseCall, note, "tools/call", 180, 300, 1000},
		{report.PhaseCall, slow, "tools/call", 300, 400, 0},
		{report.PhaseCall, last, "prompts/get", 400, 450, 1500},
	}
}

func TestAt(t *testing.T) {
	inFlight, after, phase := report.AttributionInFlight, report.AttributionAfter, report.AttributionPhase
	for name, tc := range map[string]struct {
		at   trace.Position
		want ledger.Where
	}{
		"nothing was read":               {trace.Position{}, ledger.Where{report.PhaseStartup, server, phase}},
		"output before the first read":   {trace.Position{Out: 50}, ledger.Where{report.PhaseStartup, server, phase}},
		"one byte of the first request":  {trace.Position{In: 1}, ledger.Where{report.PhaseHandshake, server, inFlight}},
		"half of a response is written":  {trace.Position{In: 100, Out: 399}, ledger.Where{report.PhaseHandshake, server, inFlight}},
		"the response is whole":          {trace.Position{In: 100, Out: 400}, ledger.Where{report.PhaseHandshake, server, after}},
		"a notification belongs before":  {trace.Position{In: 130, Out: 400}, ledger.Where{report.PhaseHandshake, server, after}},
		"one byte of the second request": {trace.Position{In: 131, Out: 400}, ledger.Where{report.PhaseList, server, inFlight}},
		"a call":                         {trace.Position{In: 300, Out: 900}, ledger.Where{report.PhaseCall, note, inFlight}},
		"after a call":                   {trace.Position{In: 300, Out: 1000}, ledger.Where{report.PhaseCall, note, after}},
		"a call without an answer":       {trace.Position{In: 400, Out: 1200}, ledger.Where{report.PhaseCall, slow, inFlight}},
		"the call behind it":             {trace.Position{In: 450, Out: 1200}, ledger.Where{report.PhaseCall, last, inFlight}},
		"after everything":               {trace.Position{In: 450, Out: 1500}, ledger.Where{report.PhaseIdle, server, phase}},
		"answered before it was read":    {trace.Position{Out: 900}, ledger.Where{report.PhaseList, server, after}},
		"all answered, nothing read":     {trace.Position{Out: 1500}, ledger.Where{report.PhaseIdle, server, phase}},
		"stdin has ended":                {trace.Position{In: 450, Out: 1500, EOF: true}, ledger.Where{report.PhaseShutdown, server, phase}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := session().At(tc.at); got != tc.want {
				t.Errorf("At(%+v) = %+v, want %+v", tc.at, got, tc.want)
			}
		})
	}
}

func TestAtWithoutExchanges(t *testing.T) {
	want := ledger.Where{Phase: report.PhaseStartup, Capability: server, Attribution: report.AttributionPhase}
	for _, at := range []trace.Position{{}, {In: 10, Out: 10}} {
		if got := ledger.Ledger(nil).At(at); got != want {
			t.Errorf("At(%+v) = %+v, want %+v", at, got, want)
		}
	}
}
