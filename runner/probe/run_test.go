package probe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

func TestHonestServer(t *testing.T) {
	f := &fake{}
	var steps []string
	o := quick
	o.Progress = func(method string, _ report.Phase, of report.Capability) { steps = append(steps, label(method, of)) }
	r := f.probe(t, o)
	if r.Incomplete.Reason != "" || r.NeedDiscover || !r.Listed || r.Lingered || r.Pollution.Lines+len(r.Breaches) != 0 {
		t.Errorf("result: %+v", r)
	}
	if r.ServerName != "fake" || r.ServerVersion != "1.2.3" || r.ProtocolVersion != "2025-06-18" {
		t.Errorf("identity: %q %q %q", r.ServerName, r.ServerVersion, r.ProtocolVersion)
	}
	if want := (report.Exercised{Listed: 1, Called: 1, Accepted: 1}); r.Coverage.Tools != want {
		t.Errorf("coverage %+v", r.Coverage)
	}
	want := []string{"initialize", "tools/list", "tools/call of tool format_note", "tools/list"}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if calls := f.saw("tools/call"); len(calls) != 1 || !strings.Contains(fmt.Sprint(calls[0]["params"]), "note:A short note") {
		t.Errorf("calls: %v", calls)
	}
	if !r.Drift.Empty() {
		t.Errorf("drift %v", r.Drift)
	}
}

// The ledger must agree with what the server itself reads and writes.
func TestLedger(t *testing.T) {
	type mark struct{ written int64 }
	var marks []mark
	f := &fake{}
	f.on = map[string]func(*fake, map[string]any) any{
		"tools/call": func(f *fake, _ map[string]any) any {
			f.println("chatter that is not JSON")
			f.println(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			f.mu.Lock()
			defer f.mu.Unlock()
			marks = append(marks, mark{f.written})
			return content("done")
		},
	}
	r := f.probe(t, quick)
	if len(r.Ledger) != 4 {
		t.Fatalf("%d exchanges: %+v", len(r.Ledger), r.Ledger)
	}
	var end, received int64
	for i, e := range r.Ledger {
		if e.SentStart < end || e.SentEnd <= e.SentStart || e.Received <= received {
			t.Errorf("exchange %d overlaps: %+v", i, e)
		}
		end, received = e.SentEnd, e.Received
	}
	call := r.Ledger[2]
	if call.Capability.String() != "tool format_note" || call.Phase != report.PhaseCall {
		t.Errorf("the call is %+v", call)
	}
	if call.Received <= marks[0].written || r.Ledger[1].Received > marks[0].written {
		t.Errorf("response ends at %d, and before it %d were written", call.Received, marks[0].written)
	}
	if received != f.written {
		t.Errorf("last response ends at %d of %d bytes", received, f.written)
	}
	if gap := r.Ledger[1].SentStart - r.Ledger[0].SentEnd; gap != int64(len(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)+1) {
		t.Errorf("%d bytes lie between initialize and the list", gap)
	}
	if p := r.Pollution; p.Lines != 1 || p.Sample != "chatter that is not JSON" || p.Capability != call.Capability || p.Phase != report.PhaseCall {
		t.Errorf("pollution %+v", r.Pollution)
	}
}

func TestIncomplete(t *testing.T) {
	type answers = map[string]func(*fake, map[string]any) any
	silent := func(*fake, map[string]any) any { return nil }
	exit := func(f *fake, _ map[string]any) any { f.exit(); return nil }
	for name, tc := range map[string]struct {
		on      answers
		start   func(*fake)
		reason  report.Reason
		message string // a part of it
		listed  bool
	}{
		"exits at once":       {start: func(f *fake) { f.exit() }, reason: report.ReasonServerExited, message: "initialize"},
		"exits in a call":     {on: answers{"tools/call": exit}, reason: report.ReasonServerExited, message: "tool format_note", listed: true},
		"silent":              {on: answers{"initialize": silent}, reason: report.ReasonTimeout, message: "initialize"},
		"silent in list":      {on: answers{"tools/list": silent}, reason: report.ReasonTimeout, message: "tools/list"},
		"silent in call":      {on: answers{"tools/call": silent}, reason: report.ReasonTimeout, message: "tool format_note", listed: true},
		"garbage":             {on: answers{"initialize": func(*fake, map[string]any) any { return raw("no \x1b[31mJSON") }}, reason: report.ReasonProtocolError, message: `"no \x1b[31mJSON"`},
		"garbage in call":     {on: answers{"tools/call": func(*fake, map[string]any) any { return raw("Oops") }}, reason: report.ReasonProtocolError, message: `"Oops"`, listed: true},
		"JSON, not JSON-RPC":  {on: answers{"initialize": func(*fake, map[string]any) any { return raw(`{"level":"info"}`) }}, reason: report.ReasonProtocolError, message: "level"},
		"result and error":    {on: answers{"initialize": func(*fake, map[string]any) any { return raw(`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`) }}, reason: report.ReasonProtocolError, message: "instead the server wrote"},
		"unknown revision":    {on: answers{"initialize": func(*fake, map[string]any) any { return map[string]any{"protocolVersion": "1999-01-01"} }}, reason: report.ReasonProtocolError, message: "1999-01-01"},
		"refuses the list":    {on: answers{"tools/list": func(*fake, map[string]any) any { return rpcFailure{-32603, "broken"} }}, reason: report.ReasonProtocolError, message: "broken"},
		"list without list":   {on: answers{"tools/list": func(*fake, map[string]any) any { return map[string]any{"Tools": []any{}} }}, reason: report.ReasonProtocolError, message: "no list of tools"},
		"same cursor":         {on: answers{"tools/list": func(*fake, map[string]any) any { return map[string]any{"tools": []any{}, "nextCursor": "x"} }}, reason: report.ReasonProtocolError, message: "came twice"},
		"endless cursors":     {on: answers{"tools/list": endless()}, reason: report.ReasonProtocolError, message: "more than 128 pages"},
		"line without end":    {on: answers{"tools/call": func(*fake, map[string]any) any { return raw(strings.Repeat("x", transport.MaxMessage+2)) }}, reason: report.ReasonProtocolError, message: "longer than 8 MiB", listed: true},
		"a tool with no name": {on: answers{"tools/list": func(*fake, map[string]any) any { return tools(`{}`) }}, reason: report.ReasonProtocolError, message: "tool without a name", listed: true},
		"closes stdout":       {on: answers{"tools/call": func(f *fake, _ map[string]any) any { _ = f.out.Close(); return nil }}, reason: report.ReasonProtocolError, message: "closed its stdout", listed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{on: tc.on, start: tc.start}
			r := f.probe(t, quick)
			if r.Incomplete.Reason != tc.reason || !strings.Contains(r.Incomplete.Message, tc.message) {
				t.Errorf("incomplete: %+v", r.Incomplete)
			}
			if r.Listed != tc.listed {
				t.Errorf("listed: %v", r.Listed)
			}
		})
	}
}

func endless() func(*fake, map[string]any) any {
	n := 0
	return func(*fake, map[string]any) any {
		n++
		return map[string]any{"tools": []any{}, "nextCursor": fmt.Sprint(n)}
	}
}

// A banner is not what came in place of a later answer; garbage is, also when
// the time of the whole audit is up first.
func TestWhatCameInstead(t *testing.T) {
	silent := func(*fake, map[string]any) any { return nil }
	banner := &fake{
		start: func(f *fake) { f.println("Welcome!") },
		on:    map[string]func(*fake, map[string]any) any{"tools/call": silent},
	}
	if r := banner.probe(t, quick); r.Incomplete.Reason != report.ReasonTimeout {
		t.Errorf("incomplete: %+v", r.Incomplete)
	}
	garbage := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any { return raw("Oops") },
	}}
	synctest.Test(t, func(t *testing.T) {
		if r := garbage.within(t, time.Second, quick); r.Incomplete.Reason != report.ReasonProtocolError {
			t.Errorf("incomplete: %+v", r.Incomplete)
		}
	})
}

// A call without an answer is cancelled, and the next one is made.
func TestTimeoutGoesOn(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(`{"name":"a"}`, `{"name":"b"}`) },
		"tools/call": func(_ *fake, params map[string]any) any {
			if params["name"] == "a" {
				return nil
			}
			return content("done")
		},
	}}
	r := f.probe(t, quick)
	if r.Incomplete.Reason != "" || r.Exercise[0].Skipped != report.SkippedTimeout {
		t.Errorf("incomplete: %+v, %+v", r.Incomplete, r.Exercise)
	}
	if want := (report.Exercised{Listed: 2, Called: 1, Accepted: 1}); r.Coverage.Tools != want {
		t.Errorf("coverage %+v", r.Coverage.Tools)
	}
	if cancelled := f.saw("notifications/cancelled"); len(cancelled) != 1 {
		t.Errorf("cancelled: %v", cancelled)
	}
	if calls := f.saw("tools/call"); len(calls) != 2 {
		t.Errorf("calls: %v", calls)
	}
}

// A server that neither reads nor writes holds nobody up.
func TestServerThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		conn, _ := f.connect(t)
		r, err := Run(t.Context(), conn, quick)
		if err != nil || r.Incomplete.Reason != report.ReasonTimeout || !r.Lingered {
			t.Errorf("result: %+v, %v", r, err)
		}
	})
}

// Out of time is a result; cancelled is an error, too.
func TestDeadlineAndCancel(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  time.Duration
		cancel bool
		err    error
	}{
		"deadline": {limit: time.Second},
		"cancel":   {limit: time.Hour, cancel: true, err: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{on: map[string]func(*fake, map[string]any) any{
					"tools/call": func(*fake, map[string]any) any { return nil },
				}}
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				o := quick
				o.Progress = func(method string, _ report.Phase, _ report.Capability) {
					if tc.cancel && method == "tools/call" {
						cancel()
					}
				}
				r, err := f.run(ctx, t, o)
				if !errors.Is(err, tc.err) || r.Incomplete.Reason != report.ReasonTimeout {
					t.Errorf("result: %+v, %v", r.Incomplete, err)
				}
			})
		})
	}
}

// TestManifestThatIsTooLong: it is listed, and nothing of it is called.
func TestManifestThatIsTooLong(t *testing.T) {
	long := `{"name":"a","description":"` + strings.Repeat("x", manifest.MaxRead) + `"}`
	f := &fake{on: map[string]func(*fake, map[string]any) any{"tools/list": func(*fake, map[string]any) any { return tools(long) }}}
	r := f.probe(t, quick)
	if calls := f.saw("tools/call"); len(calls) != 0 || !r.Listed || r.Coverage.Tools.Listed != 1 {
		t.Errorf("%d calls, coverage %+v", len(calls), r.Coverage.Tools)
	}
}

func TestPagination(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(_ *fake, params map[string]any) any {
			switch params["cursor"] {
			case nil:
				return map[string]any{"tools": []any{map[string]any{"name": "a"}}, "nextCursor": "2"}
			case "2":
				return map[string]any{"tools": []any{map[string]any{"name": "b"}}, "nextCursor": ""}
			}
			return rpcFailure{-32602, "bad cursor"}
		},
	}}
	r := f.probe(t, quick)
	if r.Incomplete.Reason != "" || len(r.Manifest.Tools) != 2 || r.Coverage.Tools.Accepted != 2 {
		t.Errorf("result: %+v", r)
	}
}
