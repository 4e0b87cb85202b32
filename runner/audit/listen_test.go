package audit

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// listens is the event of a listen(2).
func listens(protocol, at, errno string) trace.Event {
	return trace.Event{Op: trace.OpListen, Errno: errno, Socket: &trace.Socket{Protocol: protocol, Local: netip.MustParseAddrPort(at)}}
}

func heard(events ...trace.Event) *listening {
	l := newListening()
	for _, e := range events {
		l.event(e)
	}
	return l
}

// TestOn: which addresses lead to a server, by what it was seen to listen on.
func TestOn(t *testing.T) {
	for name, tc := range map[string]struct {
		port   uint16
		events []trace.Event
		want   string
	}{
		"every address of IPv4":     {8080, []trace.Event{listens("tcp", "0.0.0.0:8080", "")}, "127.0.0.1:8080"},
		"every address":             {8080, []trace.Event{listens("tcp", "[::]:8080", "")}, "127.0.0.1:8080 [::1]:8080"},
		"one of the loopback":       {8080, []trace.Event{listens("tcp", "127.0.0.2:8080", "")}, "127.0.0.2:8080"},
		"that of IPv6":              {8080, []trace.Event{listens("tcp", "[::1]:8080", "")}, "[::1]:8080"},
		"both":                      {80, []trace.Event{listens("tcp", "[::1]:80", ""), listens("tcp", "127.0.0.1:80", "")}, "[::1]:80 127.0.0.1:80"},
		"an interface's":            {8080, []trace.Event{listens("tcp", "10.0.0.7:8080", "")}, ""},
		"another port":              {8080, []trace.Event{listens("tcp", "127.0.0.1:3000", "")}, ""},
		"the first, if any will do": {0, []trace.Event{listens("tcp", "10.0.0.7:1", ""), listens("tcp", "127.0.0.1:2", ""), listens("tcp", "127.0.0.1:3", "")}, "127.0.0.1:2"},
		"one that could not be had": {8080, []trace.Event{listens("tcp", "0.0.0.0:8080", "EADDRINUSE")}, ""},
		"not of the conversation":   {8080, []trace.Event{listens("unix", "0.0.0.0:8080", "")}, ""},
		"of an unknown port":        {0, []trace.Event{listens("tcp", "0.0.0.0:0", "")}, ""},
	} {
		at, _ := heard(tc.events...).seen()
		var got []string
		for _, a := range on(at, tc.port) {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestListeningIsBounded(t *testing.T) {
	l := newListening()
	for port := range uint16(1000) {
		l.event(trace.Event{Op: trace.OpListen, Socket: &trace.Socket{
			Protocol: "tcp", Local: netip.AddrPortFrom(netip.IPv6Loopback(), port+1)}})
	}
	if at, _ := l.seen(); len(at) != maxListening {
		t.Errorf("%d addresses are kept", len(at))
	}
}

// TestAwaitPort: what becomes of a server that listens late, elsewhere or never.
func TestAwaitPort(t *testing.T) {
	plan := Plan{Port: 3000, Progress: func(string) {}}
	l := heard(listens("tcp", "127.0.0.1:8080", ""))
	go l.event(listens("tcp", "[::]:3000", ""))
	if port, missing := plan.awaitPort(t.Context(), l, nil); port != 3000 || missing.Reason != "" {
		t.Errorf("port %d, %+v", port, missing)
	}
	gone := make(chan struct{})
	close(gone)
	if _, missing := plan.awaitPort(t.Context(), newListening(), gone); missing.Reason != report.ReasonServerExited {
		t.Errorf("of one that has exited: %+v", missing)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, missing := plan.awaitPort(ctx, newListening(), nil); missing.Reason != report.ReasonTimeout {
		t.Errorf("without time: %+v", missing)
	}
}

// TestDoubt: who did not say which port hears that it may be another.
func TestDoubt(t *testing.T) {
	failed := probe.Result{Incomplete: report.Incomplete{Reason: report.ReasonProtocolError, Message: "no answer"}}
	for port, want := range map[uint16]string{0: "no answer (on port 9100, the first that it listens on: --port chooses another)", 9100: "no answer"} {
		if got := (Plan{Port: port}).explainGuessedPort(failed, 9100).Incomplete.Message; got != want {
			t.Errorf("with port %d: %s", port, got)
		}
	}
}

// TestUnheard: answers that the trace knows nothing of came from somebody else, or by
// a way that is not watched.
func TestUnheard(t *testing.T) {
	o := observation{stats: trace.Stats{Begun: true}, result: probe.Result{Ledger: ledger.Ledger{{SentEnd: 9, Received: 9}}}}
	if got := incomplete([]observation{o}); got.Reason != report.ReasonTraceOverflow {
		t.Errorf("%+v", got)
	}
	o.stats.At = trace.Position{In: 9, Out: 9}
	if got := o.unwatched(); got.Reason != "" {
		t.Errorf("%+v", got)
	}
}

func TestNotListening(t *testing.T) {
	for want, at := range map[string][]string{
		"the server listens on 8080 and 9229, not 3000: set --port (spec.server.port)":                                     {"127.0.0.1:9229", "0.0.0.0:8080", "[::]:8080"},
		"the server listens on 10.0.0.7:3000, where it cannot be reached: have it listen on localhost or on every address": {"10.0.0.7:3000"},
		"the server did not listen on port 3000 within 1m0s: was it started with an HTTP transport?":                       nil,
	} {
		var addresses []netip.AddrPort
		for _, a := range at {
			addresses = append(addresses, netip.MustParseAddrPort(a))
		}
		slices.SortFunc(addresses, netip.AddrPort.Compare)
		if got := (Plan{Port: 3000}).notListening(addresses); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
