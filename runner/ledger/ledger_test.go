package ledger_test

import (
	"testing"
	"time"

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
		{Phase: report.PhaseHandshake, Capability: server, Method: "initialize", SentStart: 0, SentEnd: 100, Received: 400},
		{Phase: report.PhaseList, Capability: server, Method: "tools/list", SentStart: 130, SentEnd: 180, Received: 900},
		{Phase: report.PhaseCall, Capability: note, Method: "tools/call", SentStart: 180, SentEnd: 300, Received: 1000},
		{Phase: report.PhaseCall, Capability: slow, Method: "tools/call", SentStart: 300, SentEnd: 400},
		{Phase: report.PhaseCall, Capability: last, Method: "prompts/get", SentStart: 400, SentEnd: 450, Received: 1500},
	}
}

func place(phase report.Phase, of report.Capability, by report.Attribution) ledger.Where {
	return ledger.Where{Phase: phase, Capability: of, Attribution: by}
}

func behind(w ledger.Where, of report.Capability) ledger.Where {
	w.AlternativeCause = of
	return w
}

func at(in, out int64) trace.Position { return trace.Position{In: in, Out: out} }

func TestAtPosition(t *testing.T) {
	inFlight, after, phase := report.AttributionInFlight, report.AttributionAfter, report.AttributionPhase
	idle := behind(place(report.PhaseIdle, server, report.AttributionBackground), slow) // which was never answered
	for name, tc := range map[string]struct {
		at   trace.Position
		want ledger.Where
	}{
		"nothing was read":               {at(0, 0), place(report.PhaseStartup, server, phase)},
		"output before the first read":   {at(0, 50), place(report.PhaseStartup, server, phase)},
		"one byte of the first request":  {at(1, 0), place(report.PhaseHandshake, server, inFlight)},
		"half of a response is written":  {at(100, 399), place(report.PhaseHandshake, server, inFlight)},
		"the response is whole":          {at(100, 400), place(report.PhaseHandshake, server, after)},
		"a notification belongs before":  {at(130, 400), place(report.PhaseHandshake, server, after)},
		"one byte of the second request": {at(131, 400), place(report.PhaseList, server, inFlight)},
		"a call":                         {at(300, 900), place(report.PhaseCall, note, inFlight)},
		"after a call":                   {at(300, 1000), place(report.PhaseCall, note, after)},
		"a call without an answer":       {at(400, 1200), place(report.PhaseCall, slow, inFlight)},
		"the call behind it":             {at(450, 1200), behind(place(report.PhaseCall, last, report.AttributionOverlap), slow)},
		"after everything":               {at(450, 1500), idle},
		"answered before it was read":    {at(0, 900), place(report.PhaseList, server, after)},
		"all answered, nothing read":     {at(0, 1500), idle},
		"stdin has ended":                {trace.Position{In: 450, Out: 1500, EOF: true}, place(report.PhaseShutdown, server, phase)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := session().At(ledger.Moment{At: tc.at}); got != tc.want {
				t.Errorf("At(%+v) = %+v, want %+v", tc.at, got, tc.want)
			}
		})
	}
}

func TestAtWithoutExchanges(t *testing.T) {
	want := place(report.PhaseStartup, server, report.AttributionPhase)
	for _, p := range []trace.Position{{}, at(10, 10)} {
		if got := ledger.Ledger(nil).At(ledger.Moment{At: p, Thread: p}); got != want {
			t.Errorf("At(%+v) = %+v, want %+v", p, got, want)
		}
	}
	shutdown := place(report.PhaseShutdown, server, report.AttributionPhase)
	if got := ledger.Ledger(nil).At(ledger.Moment{At: trace.Position{EOF: true}}); got != shutdown {
		t.Errorf("at the end: %+v", got)
	}
}

// What a process does belongs to the call that started it, wherever the
// conversation is by then.
func TestLineage(t *testing.T) {
	lineage := place(report.PhaseCall, note, report.AttributionLineage)
	inNote, afterNote, inSlow, inLast := at(300, 900), at(300, 1000), at(400, 1200), at(450, 1200)
	for name, tc := range map[string]struct {
		at      trace.Position
		origins []trace.Position
		want    ledger.Where
	}{
		"in the same call":           {inNote, []trace.Position{inNote}, place(report.PhaseCall, note, report.AttributionInFlight)},
		"after its response":         {afterNote, []trace.Position{inNote}, lineage},
		"started after its response": {afterNote, []trace.Position{afterNote}, lineage},
		"in another call":            {inSlow, []trace.Position{inNote}, lineage},
		"when idle":                  {at(450, 1500), []trace.Position{inNote}, lineage},
		"at the end":                 {trace.Position{In: 450, Out: 1500, EOF: true}, []trace.Position{inNote}, lineage},
		"a descendant":               {inLast, []trace.Position{inNote, inSlow}, lineage},
		"a server that the handshake started, and what a call started of that": {inSlow, []trace.Position{at(50, 0), inNote}, lineage},
		"a worker of the handshake": {inSlow, []trace.Position{at(50, 0)}, place(report.PhaseCall, slow, report.AttributionInFlight)},
		"a worker of a list":        {inSlow, []trace.Position{at(150, 500)}, place(report.PhaseCall, slow, report.AttributionInFlight)},
		"started when idle": {at(450, 1600), []trace.Position{at(450, 1500)},
			behind(place(report.PhaseIdle, server, report.AttributionBackground), slow)},
	} {
		t.Run(name, func(t *testing.T) {
			m := ledger.MomentOf(trace.Event{At: tc.at, Origins: tc.origins, Lineage: true})
			if got := session().At(m); got != tc.want {
				t.Errorf("At(%+v) = %+v, want %+v", m, got, tc.want)
			}
		})
	}
}

// A thread of an earlier call is no proof, and says so.
func TestOverlap(t *testing.T) {
	inNote, inSlow := at(300, 900), at(400, 1200)
	for name, tc := range map[string]struct {
		restless   bool
		at, thread trace.Position
		want       ledger.Where
	}{
		"a thread of the call itself": {false, inSlow, inSlow, place(report.PhaseCall, slow, report.AttributionInFlight)},
		"a thread of an earlier call": {false, inSlow, inNote, behind(place(report.PhaseCall, slow, report.AttributionOverlap), note)},
		"a thread of the handshake":   {false, inSlow, at(50, 0), place(report.PhaseCall, slow, report.AttributionInFlight)},
		"after a restless call":       {true, inSlow, at(0, 0), behind(place(report.PhaseCall, slow, report.AttributionOverlap), note)},
		"in the restless call":        {true, inNote, at(0, 0), place(report.PhaseCall, note, report.AttributionInFlight)},
		"in the background": {false, at(450, 1500), inNote,
			behind(place(report.PhaseIdle, server, report.AttributionBackground), note)},
	} {
		t.Run(name, func(t *testing.T) {
			l := session()
			l[2].StillBusy = tc.restless
			if got := l.At(ledger.Moment{At: tc.at, Thread: tc.thread}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// Of a server that is restless for a long time, the call that made it so is named.
func TestRestless(t *testing.T) {
	calls := func(restless ...bool) ledger.Ledger {
		l := ledger.Ledger{{Phase: report.PhaseList, Capability: server, SentStart: 0, SentEnd: 10, Received: 10, StillBusy: restless[0]}}
		for i, of := range []report.Capability{note, slow, last} {
			end := int64(20 + 10*i)
			l = append(l, ledger.Exchange{Phase: report.PhaseCall, Capability: of, SentStart: end - 10, SentEnd: end, Received: end, StillBusy: restless[i+1]})
		}
		return l
	}
	inLast, afterLast, idle := at(40, 30), ledger.Moment{At: at(30, 30)}, ledger.Moment{At: at(40, 40)}
	for name, tc := range map[string]struct {
		ledger ledger.Ledger
		at     ledger.Moment
		want   ledger.Where
	}{
		"from the call before":     {calls(false, false, true, false), ledger.Moment{At: inLast}, behind(place(report.PhaseCall, last, report.AttributionOverlap), slow)},
		"from the one before that": {calls(false, true, true, false), ledger.Moment{At: inLast}, behind(place(report.PhaseCall, last, report.AttributionOverlap), note)},
		"from before any call":     {calls(true, true, true, false), ledger.Moment{At: inLast}, behind(place(report.PhaseCall, last, report.AttributionOverlap), server)},
		"quiet since":              {calls(false, true, false, false), ledger.Moment{At: inLast}, place(report.PhaseCall, last, report.AttributionInFlight)},
		"after a response":         {calls(false, true, true, false), afterLast, behind(place(report.PhaseCall, slow, report.AttributionAfter), note)},
		"of its own":               {calls(false, false, true, false), afterLast, place(report.PhaseCall, slow, report.AttributionAfter)},
		"in the background":        {calls(false, true, true, true), idle, behind(place(report.PhaseIdle, server, report.AttributionBackground), note)},
		"in the background, quiet": {calls(false, true, false, false), idle, behind(place(report.PhaseIdle, server, report.AttributionBackground), last)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.ledger.At(tc.at); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The settle time tells what a response left behind from what is much later.
func TestSettle(t *testing.T) {
	settled := time.Unix(100, 0)
	soon, late := settled.Add(-time.Millisecond), settled.Add(time.Millisecond)
	l := session()
	for i := range l {
		l[i].Settled = settled
	}
	for name, tc := range map[string]struct {
		at   trace.Position
		time time.Time
		want ledger.Where
	}{
		"right after a response": {at(300, 1000), soon, place(report.PhaseCall, note, report.AttributionSettle)},
		"at the very end of it":  {at(300, 1000), settled, place(report.PhaseCall, note, report.AttributionSettle)},
		"a server slow to read":  {at(300, 1000), late, place(report.PhaseCall, note, report.AttributionAfter)},
		"after the last one":     {at(450, 1500), soon, behind(place(report.PhaseCall, last, report.AttributionSettle), slow)},
		"long after the last one": {at(450, 1500), late,
			behind(place(report.PhaseIdle, server, report.AttributionBackground), slow)},
		"in flight, whatever the clock says": {at(300, 900), late, place(report.PhaseCall, note, report.AttributionInFlight)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := l.At(ledger.Moment{At: tc.at, Time: tc.time}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
	quiet := l[:2] // nothing was called
	if got, want := quiet.At(ledger.Moment{At: at(180, 900), Time: late}), place(report.PhaseIdle, server, report.AttributionPhase); got != want {
		t.Errorf("without a call: %+v, want %+v", got, want)
	}
}

// A timer explains nothing that was done before it was due.
func TestTimerNotDue(t *testing.T) {
	now := time.Unix(1000, 0)
	l := session()
	l[2].StillBusy, l[2].Due = true, now.Add(time.Second)
	in := at(400, 1200)
	for later, want := range map[time.Duration]ledger.Where{
		0:               place(report.PhaseCall, slow, report.AttributionInFlight),
		2 * time.Second: behind(place(report.PhaseCall, slow, report.AttributionOverlap), note),
	} {
		if got := l.At(ledger.Moment{At: in, Time: now.Add(later)}); got != want {
			t.Errorf("%s later: got %+v, want %+v", later, got, want)
		}
	}
}

// A process that was started while another call may have been at work is given to
// the call in flight, and the other is named.
func TestLineageInDoubt(t *testing.T) {
	l := session()
	l[2].StillBusy = true
	m := ledger.Moment{At: at(450, 1500)}
	m.Origins[0] = at(400, 1200)
	if got, want := l.At(m), behind(place(report.PhaseCall, slow, report.AttributionLineage), note); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What a worker does for a later call belongs to that call.
func TestWorkerOfManyCalls(t *testing.T) {
	l := session()
	inNote, inSlow, inLast := at(250, 950), at(350, 1000), at(450, 1200)
	for name, tc := range map[string]struct {
		at, started, fed trace.Position
		want             ledger.Where
	}{
		"not fed":           {inLast, inNote, trace.Position{}, place(report.PhaseCall, note, report.AttributionLineage)},
		"fed by its own":    {inLast, inNote, inNote, place(report.PhaseCall, note, report.AttributionLineage)},
		"fed by the second": {inSlow, inNote, inSlow, behind(place(report.PhaseCall, slow, report.AttributionOverlap), note)},
		"and slow":          {inLast, inNote, inSlow, behind(place(report.PhaseCall, slow, report.AttributionAfter), note)},
		"fed before":        {inLast, at(50, 0), inSlow, behind(place(report.PhaseCall, last, report.AttributionOverlap), slow)},
	} {
		m := ledger.Moment{At: tc.at, Fed: tc.fed}
		m.Origins[0] = tc.started
		if got := l.At(m); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestNote(t *testing.T) {
	settled := place(report.PhaseCall, note, report.AttributionSettle)
	for want, w := range map[string]ledger.Where{
		"":                                       place(report.PhaseCall, note, report.AttributionInFlight),
		"after the response of tool format_note": settled,
		"after the response to the server's handshake":                                                place(report.PhaseHandshake, server, report.AttributionSettle),
		"after the response of tool format_note, or left over from a call of prompt greeting":         behind(settled, last),
		"after the response of tool format_note, or by what the server had set going before any call": behind(settled, server),
		"by a process that was started during a call of tool format_note":                             place(report.PhaseCall, note, report.AttributionLineage),
		"or left over from a call of tool format_note":                                                behind(place(report.PhaseCall, last, report.AttributionOverlap), note),
		"or by what the server had set going before any call":                                         behind(place(report.PhaseCall, last, report.AttributionOverlap), server),
		"background after a call of tool format_note":                                                 behind(place(report.PhaseIdle, server, report.AttributionBackground), note),
		"by a process that was started during a call of prompt greeting, or left over from a call of tool format_note": behind(
			place(report.PhaseCall, last, report.AttributionLineage), note),
	} {
		if got := w.Note(); got != want {
			t.Errorf("%+v: %q, want %q", w, got, want)
		}
	}
	late := map[report.Attribution]bool{}
	for _, a := range []report.Attribution{report.AttributionInFlight, report.AttributionSettle, report.AttributionAfter,
		report.AttributionLineage, report.AttributionOverlap, report.AttributionBackground, report.AttributionPhase} {
		late[a] = place(report.PhaseCall, note, a).Late()
	}
	if !late[report.AttributionSettle] || !late[report.AttributionAfter] || !late[report.AttributionLineage] ||
		!late[report.AttributionBackground] || late[report.AttributionOverlap] || late[report.AttributionInFlight] {
		t.Errorf("late: %v", late)
	}
	if place(report.PhaseHandshake, server, report.AttributionSettle).Late() {
		t.Error("what the server does between the handshake and the first list is late")
	}
}

// What belongs to a call that repeats another is told from what belongs to that.
func TestAgain(t *testing.T) {
	tool := report.Capability{Kind: report.CapabilityTool, Name: "a"}
	l := ledger.Ledger{
		{Phase: report.PhaseCall, Capability: tool, SentStart: 0, SentEnd: 10, Received: 10},
		{Phase: report.PhaseCall, Capability: tool, SentStart: 10, SentEnd: 20, Received: 20, Repeat: true},
		{Phase: report.PhaseCall, Capability: tool, SentStart: 20, SentEnd: 30, Received: 30},
	}
	for at, want := range map[trace.Position]bool{
		{In: 10, Out: 5}: false, {In: 20, Out: 15}: true, {In: 20, Out: 20}: true, {In: 30, Out: 25}: false,
	} {
		if got := l.At(ledger.Moment{At: at}); got.Repeat != want || got.Capability != tool {
			t.Errorf("at %+v: %+v, want again %t", at, got, want)
		}
	}
}
