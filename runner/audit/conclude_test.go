package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// watched is a run in which all went well.
func watched(change ...func(*observation)) observation {
	o := observation{
		result: probe.Result{
			ServerName: "notes", ProtocolVersion: "2025-11-25", Listed: true,
			Manifest: manifest.Manifest{Tools: []json.RawMessage{[]byte(`{"name":"format_note","description":"Purely local."}`)}},
			Coverage: report.Coverage{Tools: report.Exercised{Listed: 1, Called: 1, Accepted: 1}},
		},
		stats:  trace.Stats{Begun: true, Lines: 10},
		exited: true, known: true,
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

func incompleteProbe(reason report.Reason, message string) func(*observation) {
	return func(o *observation) { o.result.Incomplete = report.Incomplete{Reason: reason, Message: message} }
}

// startup happens before any call.
var startup = ledger.Where{Phase: report.PhaseStartup, Capability: report.Capability{Kind: report.CapabilityServer}}

func TestIncomplete(t *testing.T) {
	launched := func(err error) observation { return observation{launched: err} }
	for _, tc := range []struct {
		name    string
		runs    []observation
		reason  report.Reason
		message string
	}{
		{"all well", []observation{watched()}, "", ""},
		{"out of memory, and the tracer with it", []observation{watched(func(o *observation) { o.starved, o.lost = true, true })},
			report.ReasonOOMKilled, "memory of the sandbox"},
		{"nothing to exercise", []observation{watched(func(o *observation) { o.result.Coverage = report.Coverage{} })},
			report.ReasonNothingAdvertised, "no tool, resource or prompt"},
		{"every call refused", []observation{watched(func(o *observation) {
			o.result.Coverage.Tools = report.Exercised{Listed: 2, Called: 2}
			o.result.Outputs = []report.Output{{Kind: report.OutputError, Capability: report.Capability{Kind: report.CapabilityTool}, Text: "no API key"}}
		})}, report.ReasonNotExercised, `each of the 2 tools refused every call: "no API key"`},
		{"a call accepted", []observation{watched(func(o *observation) {
			o.result.Coverage.Tools = report.Exercised{Listed: 2, Called: 2, Accepted: 1}
		})}, "", ""},
		{"tracer refused", []observation{launched(fmt.Errorf("%w: do this", trace.ErrUnavailable))}, report.ReasonTracerUnavailable, "do this"},
		{"no start", []observation{launched(errors.New("not in PATH"))}, report.ReasonSandboxFailed, "not in PATH"},
		{"no start in time", []observation{launched(fmt.Errorf("wait: %w", context.DeadlineExceeded))}, report.ReasonTimeout, "not started in time"},
		{"tracer lost comes before what it caused", []observation{watched(
			func(o *observation) { o.lost = true }, incompleteProbe(report.ReasonTimeout, "cut off"),
		)}, report.ReasonTracerLost, "while the server was running"},
		{"given up on, and then the tracer lost", []observation{watched(
			func(o *observation) { o.lost, o.stopping = true, true }, incompleteProbe(report.ReasonTimeout, "no answer"),
		)}, report.ReasonTimeout, "no answer"},
		{"tracer lost at the very end", []observation{watched(func(o *observation) { o.lost, o.stopping = true, true })},
			report.ReasonTracerLost, "while the server was running"},
		{"nothing seen", []observation{watched(func(o *observation) { o.stats.Begun = false })}, report.ReasonTracerLost, "did not see"},
		{"shim killed", []observation{watched(func(o *observation) { o.known = false })}, report.ReasonServerExited, "supervises"},
		{"shim killed between two starts", []observation{watched(), launched(fmt.Errorf("%w: gone", ErrSupervisorKilled))}, report.ReasonServerExited, "supervises"},
		{"exit with a complaint", []observation{watched(
			incompleteProbe(report.ReasonServerExited, "the server exited"),
			func(o *observation) { o.status, o.stderr = 3<<8, "Error: no token\n    at main\nNode.js v20\n" },
		)}, report.ReasonServerExited, "the server exited (exit status 3): Error: no token"},
		{"killed without a word", []observation{watched(
			incompleteProbe(report.ReasonServerExited, "the server exited"),
			func(o *observation) { o.status = syscall.WaitStatus(syscall.SIGKILL) },
		)}, report.ReasonServerExited, "the server exited (signal: killed)"},
		{"never spoke MCP", []observation{watched(
			incompleteProbe(report.ReasonTimeout, "no answer"),
			func(o *observation) {
				o.result.ProtocolVersion, o.result.Pollution = "", probe.Pollution{Lines: 1, Sample: "hello"}
			},
		)}, report.ReasonProtocolError, `is not MCP: "hello"`},
		{"overflow comes before being lost", []observation{watched(
			func(o *observation) { o.stats.Overflow, o.lost = true, true },
		)}, report.ReasonTraceOverflow, "more system calls"},
		{"not drained", []observation{watched(func(o *observation) { o.drained = errUndrained })}, report.ReasonTraceOverflow, "in time"},
		{"not understood", []observation{watched(func(o *observation) { o.stats.Unparsed = 2 })}, report.ReasonTraceOverflow, "2 lines"},
		{"the position is forged", []observation{watched(func(o *observation) { o.stats.Forged = 1 })}, report.ReasonTraceOverflow, "its own stdin"},
		{"did not fit", []observation{watched(func(o *observation) { o.stats.Cut, o.stats.Dropped = 1, 2 })}, report.ReasonTraceOverflow, "3 calls"},
		{"not searched", []observation{watched(func(o *observation) { o.unsearched = 4 })}, report.ReasonTraceOverflow, "4 places"},
		{"opened by another name", []observation{watched(func(o *observation) { o.opened = []string{"/home/u/.env"} })},
			report.ReasonTraceOverflow, "/home/u/.env was opened"},
		{"opened by its name", []observation{watched(func(o *observation) {
			o.opened = []string{"/home/u/.netrc", "/home/u/.aws/credentials"}
			o.profile.Effects = []profile.Effect{
				{Fact: profile.Fact{Kind: profile.KindWrite, Operation: "openat", Path: "/home/u/.netrc"}, Where: startup},
				{Fact: profile.Fact{Kind: profile.KindRead, Operation: "renameat2", Path: "/home/u/.aws"}, Where: startup},
			}
		})}, "", ""},
		{"opened by another name, and moved back", []observation{watched(func(o *observation) {
			o.opened = []string{"/home/u/.aws/credentials"}
			o.profile.Effects = []profile.Effect{
				{Fact: profile.Fact{Kind: profile.KindWrite, Operation: "rename", Path: "/home/u/.aws"}, Where: startup},
				{Fact: profile.Fact{Kind: profile.KindWrite, Operation: "chmod", Path: "/home/u/.aws/credentials"}, Where: startup},
			}
		})}, report.ReasonTraceOverflow, "credentials was opened"},
		{"obeyed, and changed by another name", []observation{watched(func(o *observation) { o.unshown = "/home/u/.ssh/rc" })},
			report.ReasonTraceOverflow, "/home/u/.ssh/rc was changed"},
		{"sent where the trace does not show it", []observation{watched(func(o *observation) { o.unmatched = "something was sent to UDP 192.0.2.1" })},
			report.ReasonTraceOverflow, "UDP 192.0.2.1"},
		{"nobody looked at what is obeyed", []observation{watched(func(o *observation) { o.unlooked = errors.New("gone") })},
			report.ReasonTraceOverflow, "could not be looked at: gone"},
		{"a manifest that is not read to its end", []observation{watched(func(o *observation) {
			o.result.Manifest.Tools = []json.RawMessage{make([]byte, 3<<20), make([]byte, 3<<20)}
		})}, report.ReasonTraceOverflow, "no more than 4194304"},
		{"too long when listed again", []observation{listing("Purely local.", func(o *observation) {
			o.result.After, o.result.Relisted = offering(strings.Repeat("x", manifest.MaxRead)), true
		})}, report.ReasonTraceOverflow, "no more than 4194304"},
		{"left out", []observation{watched(func(o *observation) { o.profile.Dropped = 5 })}, report.ReasonTraceOverflow, "5 were left out"},
		{"the first run need not answer", []observation{
			watched(incompleteProbe(report.ReasonProtocolError, "refused initialize")), watched(),
		}, "", ""},
		{"the first run has to be watched", []observation{watched(func(o *observation) { o.lost = true }), watched()}, report.ReasonTracerLost, "the tracer ended while the server was running"},
		{"no time for a second start", []observation{watched(incompleteProbe(report.ReasonTimeout, "no answer")),
			{launched: context.DeadlineExceeded, how: launch{moment: report.MomentRestart}}}, report.ReasonTimeout, "no answer"},
		{"the second start fails", []observation{watched(), launched(errors.New("gone"))}, report.ReasonSandboxFailed, "gone"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := incomplete(tc.runs)
			if got.Reason != tc.reason || tc.message == "" && got.Message != "" || !strings.Contains(got.Message, tc.message) {
				t.Errorf("got %+v, want %s: %s", got, tc.reason, tc.message)
			}
			r := conclude(Plan{FailOn: report.SeverityHigh}, tc.runs, time.Now())
			if passed := r.Verdict == report.VerdictPass; passed != (tc.reason == "") {
				t.Errorf("verdict %s (%s)", r.Verdict, r.Reason)
			}
		})
	}
}

// TestMinAssurance: too few tools that accepted a call make no Pass, unless that is accepted.
func TestMinAssurance(t *testing.T) {
	runs := []observation{watched(func(o *observation) {
		o.result.Coverage.Tools = report.Exercised{Listed: 3, Called: 3, Accepted: 1}
	})}
	r := conclude(Plan{}, runs, time.Now())
	if r.Reason != report.ReasonWeaklyExercised || r.Incomplete == nil || r.Incomplete.Reason != r.Reason || r.Assurance.Level != report.AssuranceWeak {
		t.Errorf("%s (%s): %+v, %+v", r.Verdict, r.Reason, r.Incomplete, r.Assurance)
	}
	r = conclude(Plan{MinAssurance: report.AssuranceWeak}, runs, time.Now())
	if r.Message != "Pass, of 1 of 3 tools: no findings" || r.Incomplete != nil || r.Behavior.Digest == "" {
		t.Errorf("%s: %s", r.Verdict, r.Message)
	}
}

// TestFirstRunCounts: what the server did in the run that only showed that it
// has to be talked to differently is judged, too.
func TestFirstRunCounts(t *testing.T) {
	decoys, err := decoy.New("/home/server", false)
	if err != nil {
		t.Fatal(err)
	}
	first := watched(func(o *observation) {
		o.profile = profile.Profile{Effects: []profile.Effect{{
			Fact:  profile.Fact{Kind: profile.KindRead, Path: "/home/server/.ssh/id_rsa", Operation: "openat"},
			Count: 1,
			Where: ledger.Where{Phase: report.PhaseStartup, Capability: report.Capability{Kind: report.CapabilityServer}},
		}}}
	})
	r := conclude(Plan{FailOn: report.SeverityHigh, Decoys: decoys}, []observation{first, watched()}, time.Now())
	if r.Verdict != report.VerdictFail || len(r.Findings) != 1 {
		t.Errorf("verdict %s, findings %+v", r.Verdict, r.Findings)
	}
}

func TestBaseline(t *testing.T) {
	now := time.Now()
	before := conclude(Plan{}, []observation{watched()}, now)
	changed := watched(func(o *observation) {
		o.result.Manifest.Tools[0] = []byte(`{"name":"format_note","description":"New."}`)
	})
	unlisted := watched(func(o *observation) { o.result.Listed = false }, incompleteProbe(report.ReasonTimeout, "no list"))
	for _, tc := range []struct {
		name string
		run  observation
		want report.Verdict
	}{{"same", watched(), report.VerdictPass}, {"changed", changed, report.VerdictFail}, {"not listed", unlisted, report.VerdictInconclusive}} {
		r := conclude(Plan{FailOn: report.SeverityHigh, Baseline: &before}, []observation{tc.run}, now)
		if r.Verdict != tc.want {
			t.Errorf("%s: verdict %s (%s): %+v", tc.name, r.Verdict, r.Reason, r.Findings)
		}
		if (r.ManifestDigest == "") == tc.run.result.Listed {
			t.Errorf("%s: digest %q", tc.name, r.ManifestDigest)
		}
	}
}

// TestBehaviorBaseline: what a server does that it had not done is found, where it
// was exercised in the same way.
func TestBehaviorBaseline(t *testing.T) {
	plan := Plan{FailOn: report.SeverityMedium, Transport: report.TransportStdio, Probe: plan.Probe{Rounds: 2}}
	before := conclude(plan, []observation{watched()}, time.Now())
	plan.Baseline = &before
	runs := []observation{watched(func(o *observation) {
		o.profile.Effects = []profile.Effect{{
			Fact:  profile.Fact{Kind: profile.KindRead, Path: "/home/u/notes/a", Operation: "openat"},
			Count: 1,
			Where: ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"}},
		}}
	})}
	r := conclude(plan, runs, time.Now())
	if len(r.Findings) != 1 || r.Findings[0].Rule != report.RuleBehaviorChanged || !slices.Equal(r.Baseline.Behavior.Added, []string{"read /home/u/"}) {
		t.Errorf("findings %+v, drift %+v", r.Findings, r.Baseline)
	}
	plan.Probe.Rounds = 3
	if r := conclude(plan, runs, time.Now()); len(r.Findings) != 0 || r.Baseline == nil {
		t.Errorf("in another way: findings %+v, drift %+v", r.Findings, r.Baseline)
	}
}

func TestComplaint(t *testing.T) {
	for stderr, want := range map[string]string{
		"":                                    "",
		"one line\n":                          "one line",
		"starting\nlistening\n":               "listening",
		"TypeError: x is not a function\n at": "TypeError: x is not a function",
		"Error: first\nError: second\nbye":    "Error: second",
		"Error: write EPIPE\n    at a (b)\nEmitted 'error' event at:\n    at emitErrorNT\n}\n\nNode.js v20\n": "Error: write EPIPE",
		"no bindings\n    at a\n}\n": "no bindings",
		"}\n":                        "",
	} {
		if got := complaint(stderr); got != want {
			t.Errorf("complaint(%q) = %q, want %q", stderr, got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	said := NewTail(5)
	for _, s := range []string{"ab", "cdef", "", "0123456789", "x"} {
		if n, err := said.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	if got := said.String(); got != "6789x" {
		t.Errorf("tail is %q", got)
	}
	if got := said.Fresh(); got != "6789x" {
		t.Errorf("fresh is %q", got)
	}
	_, _ = said.Write([]byte("yz"))
	if got := said.Fresh() + said.Fresh(); got != "yz" || said.String() != "89xyz" {
		t.Errorf("fresh is %q of %q", got, said.String())
	}
}
