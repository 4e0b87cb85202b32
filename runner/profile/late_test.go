package profile_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestLateWork: what processes, threads and timers of one call do during another.
func TestLateWork(t *testing.T) {
	child := func(e trace.Event, at trace.Position) trace.Event {
		e.Lineage, e.Origins = true, []trace.Position{at}
		return e
	}
	threaded := func(e trace.Event, at trace.Position) trace.Event {
		e.Thread = at
		return e
	}
	var r recorder
	r.add(inNote, child(read("/x"), inNote))
	r.add(inClock, child(read("/x"), inNote))
	r.add(inClock, read("/x"))
	r.add(inClock, threaded(read("/y"), inNote))
	r.add(idle, read("/z"))
	r.add(shutdown, child(read("/x"), inClock))
	p := r.build(profile.Limits{})
	want := []string{
		"Read /x  x1: Call tool format_note InFlight",
		"Read /x  x1: Call tool format_note Lineage",
		"Read /x  x1: Call tool clock InFlight",
		"Read /y  x1: Call tool clock Overlap",
		"Read /z  x1: Idle server Background",
		"Read /x  x1: Call tool clock Lineage",
	}
	if diff := cmp.Diff(want, summaries(p)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	notes := map[int]string{0: "", 1: "by a process that was started during a call of tool format_note",
		3: "or left over from a call of tool format_note", 4: "background after a call of tool clock"}
	for i, note := range notes {
		if detail := p.Effects[i].Evidence().Detail; note != "" && !strings.HasSuffix(detail, " ["+note+"]") || note == "" && strings.Contains(detail, "[") {
			t.Errorf("evidence of effect %d: %s, want %q", i, detail, note)
		}
	}
	var sections []string
	for _, c := range p.Report().Capabilities {
		sections = append(sections, fmt.Sprintf("%s %s late=%t", c.Name, c.Phase, c.Late))
	}
	if diff := cmp.Diff([]string{"format_note Call late=false", "format_note Call late=true", "clock Call late=false",
		" Idle late=true", "clock Call late=true"}, sections); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// TestSettled: effects soon after the last response are kept apart from those long after it.
func TestSettled(t *testing.T) {
	l := append(ledger.Ledger(nil), session...)
	l[2].Settled = time.Date(2026, 1, 2, 3, 4, 5, 1500, time.UTC) // between the second and the third event
	b := profile.New(profile.Limits{})
	var r recorder
	for range 3 {
		r.add(idle, read("/x"))
	}
	for _, e := range r.events {
		b.Add(e)
	}
	want := []string{"Read /x  x2: Call tool clock Settle", "Read /x  x1: Idle server Background"}
	if diff := cmp.Diff(want, summaries(b.Build(l))); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

// TestEvidenceIsBounded: a long name leaves the evidence within its bounds.
func TestEvidenceIsBounded(t *testing.T) {
	e := profile.Effect{Detail: strings.Repeat("x", 600), Where: ledger.Where{Phase: report.PhaseIdle,
		Attribution: report.AttributionBackground, AlternativeCause: report.Capability{Kind: report.CapabilityTool, Name: strings.Repeat("n", 4096)}}}
	if n := len(e.Evidence().Detail); n > report.MaxDetailBytes {
		t.Errorf("%d bytes", n)
	}
}

// sent returns the event of bytes sent over a socket.
func sent(size int64, remote string) trace.Event {
	return trace.Event{Op: trace.OpSend, Syscall: "write", Size: size,
		Socket: &trace.Socket{Family: "inet", Protocol: "tcp", Remote: netip.MustParseAddrPort(remote)}}
}

// TestBytesOut: the bytes of a connection count where they were sent.
func TestBytesOut(t *testing.T) {
	var r recorder
	r.add(inNote, failed("EINPROGRESS", connect("tcp", "192.0.2.1:443")))
	r.add(inNote, sent(100, "192.0.2.1:443"))
	r.add(inNote, sent(20, "192.0.2.1:443"))
	r.add(inNote, failed("EPIPE", sent(0, "192.0.2.1:443")))
	r.add(inClock, sent(3, "192.0.2.1:443"))
	got := map[string][]report.Connection{}
	for _, c := range r.build(profile.Limits{}).Report().Capabilities {
		got[c.Name] = c.Connects
	}
	want := map[string][]report.Connection{
		"format_note": {{Address: "192.0.2.1", Port: 443, Protocol: "tcp", Count: 1, BytesOut: 120}},
		"clock":       {{Address: "192.0.2.1", Port: 443, Protocol: "tcp", Count: 1, BytesOut: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connections (-want +got):\n%s", diff)
	}
}

// TestFloods: a flood of one kind does not push out another of equal rank, and
// nothing pushes out an effect that a rule judges.
func TestFloods(t *testing.T) {
	sensitive := func(path string) bool { return path == "/data/wallet.dat" }
	floods := map[string]func(r *recorder, i int){
		"programs":          func(r *recorder, i int) { r.add(inNote, execute("/bin/true", fmt.Sprint(i))) },
		"ports of its own":  func(r *recorder, i int) { r.add(inNote, connect("tcp", fmt.Sprintf("127.0.0.1:%d", i+1))) },
		"files of its home": func(r *recorder, i int) { r.add(inNote, read(fmt.Sprintf("/home/u/%d", i))) },
		"attempts":          func(r *recorder, i int) { r.add(inNote, failed("ENOENT", read("/data/"+fmt.Sprint(i)+"/wallet.dat"))) },
	}
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			var r recorder
			for i := range 500 {
				flood(&r, i)
			}
			r.add(inNote, connect("tcp", "192.0.2.1:443"))
			r.add(inNote, read("/data/wallet.dat"))
			r.add(inNote, trace.Event{Op: trace.OpEvade, Syscall: "ptrace"})
			p := r.build(profile.Limits{Effects: 50, Home: "/home/u", Sensitive: sensitive})
			if len(p.Effects) != 50 || p.Dropped != len(r.events)-50 {
				t.Errorf("%d effects, %d dropped of %d", len(p.Effects), p.Dropped, len(r.events))
			}
			kept := strings.Join(summaries(p), "\n")
			for _, want := range []string{"Connect 192.0.2.1:443", "Read /data/wallet.dat", "Evade"} {
				if !strings.Contains(kept, want) {
					t.Errorf("%s was dropped", want)
				}
			}
		})
	}
}

// TestJoin joins two runs of a server.
func TestJoin(t *testing.T) {
	var r recorder
	r.add(startup, read("/usr/lib/libz.so"))
	r.add(startup, read("/etc/localtime"))
	r.add(startup, read("/x"))
	p, other := r.build(profile.Limits{}), r.build(profile.Limits{})
	other.Dropped = 3
	p.Join(other)
	want := []report.Noise{{Reason: "Loader", Count: 2, Samples: []string{"/usr/lib/libz.so"}},
		{Reason: "Locale", Count: 2, Samples: []string{"/etc/localtime"}}}
	if diff := cmp.Diff(want, p.Noise); diff != "" || len(p.Effects) != 2 || p.Dropped != 3 {
		t.Errorf("noise (-want +got):\n%s%d effects, %d dropped", diff, len(p.Effects), p.Dropped)
	}
}

// TestCut: payload bytes that are not in the trace are counted where they matter.
func TestCut(t *testing.T) {
	over := func(e trace.Event) trace.Event {
		e.Size, e.Data = 5000, make([]byte, 4096)
		return e
	}
	store := func(path string) trace.Event {
		return over(trace.Event{Op: trace.OpStore, Syscall: "write", Path: path})
	}
	moved := store("/data/x")
	moved.From = "/data/y"
	var r recorder
	for _, e := range []trace.Event{store("/data/x"), store("/app/__pycache__/x.cpython-311.pyc.1"), moved,
		over(sent(0, "192.0.2.1:443")), over(sent(0, "127.0.0.1:80")), sent(10, "192.0.2.1:443")} {
		if len(e.Data) == 0 {
			e.Data = make([]byte, e.Size)
		}
		r.add(inNote, e)
	}
	if got, want := r.build(profile.Limits{}).Cut, (profile.Cut{Sent: 904, Here: 2 * 904}); got != want {
		t.Errorf("cut %+v, want %+v", got, want)
	}
}
