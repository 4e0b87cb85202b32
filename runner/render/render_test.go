package render_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/test/golden"
)

// enabling is the exposure of a tool that fetches what it is told to.
func enabling(tool report.Capability, at time.Time) *report.Exposure {
	seen := []report.Evidence{{Time: report.At(at), PID: 7, Syscall: "connect", Detail: "connect(3, 28.0.0.1) = 0", Attribution: report.AttributionInFlight}}
	e := report.ExposureOf([]report.ExposureItem{
		{Capability: tool, Kind: report.ExposesNetworkEgress, Reach: report.ReachArbitrary, Argument: "url", Basis: report.BasisProven, Evidence: seen},
		{Capability: tool, Kind: report.ExposesFileRead, Reach: report.ReachPartial, Argument: "path", Bound: "below /data (command line)", Basis: report.BasisProven},
		{Capability: tool, Kind: report.ExposesSecrets, Reach: report.ReachFixed, Bound: "$API_KEY", Basis: report.BasisProven},
		{Capability: tool, Kind: report.ExposesCommandExecution, Reach: report.ReachPartial, Basis: report.BasisDeclared},
	})
	return &e
}

func fail() report.Report {
	tool := report.Capability{Kind: report.CapabilityTool, Name: "format_note"}
	at := time.Date(2026, 3, 4, 5, 6, 7, 89000, time.UTC)
	return report.Report{
		Server:  report.ServerRun{Name: "notes", Version: "1.0.0", ProtocolVersion: "2025-11-25", Command: []string{"notes"}},
		Verdict: report.VerdictFail, Reason: report.ReasonFindingsAboveThreshold,
		Message: "1 finding at or above High", FailOn: report.SeverityHigh, Tracer: report.Component{Name: "strace", Version: "6.1"},
		ManifestDigest: "sha256:00",
		Exposure:       enabling(tool, at),
		Risk: report.Risk{Score: 46, Level: report.RiskHigh, Parts: []report.RiskPart{
			{Family: "NetworkOutbound", Points: 45}, {Family: "FileRead", Points: 1}, {Family: "ProtocolViolation"},
		}},
		Findings: []report.Finding{{
			Rule: "MCPA-EGRESS-001", Severity: report.SeverityHigh, Title: "Undeclared network egress",
			Message: "Tool format_note tried to connect to 93.184.216.34:80 (tcp).", Phase: report.PhaseCall, Capability: tool,
			Mitigation: "Deny egress to 93.184.216.34:80\x1b[2J.",
			Evidence:   []report.Evidence{{Time: report.At(at), PID: 7, Syscall: "connect", Detail: "connect(5, ...) = 0", Attribution: report.AttributionInFlight}},
		}, {
			Rule: "MCPA-FILE-001", Severity: report.SeverityLow, Title: "Later", Message: "Late.", Phase: report.PhaseCall,
			Suppressed: &report.Suppressed{Reason: "known", Until: report.At(at), Expired: true},
			Capability: tool, Evidence: []report.Evidence{{Time: report.At(at), Detail: "read", Attribution: report.AttributionAfter}},
		}, {
			Rule: "MCPA-PROTOCOL-001", Severity: report.SeverityInfo, Title: "Text", Message: "Text.", Phase: report.PhaseStartup,
			Suppressed: &report.Suppressed{Reason: "a banner, see\x1b SEC-12", Until: report.At(at.AddDate(0, 1, 0))},
			Capability: report.Capability{Kind: report.CapabilityServer},
		}},
		Profile: report.Profile{Capabilities: []report.CapabilityProfile{{
			Kind: report.CapabilityServer, Phase: report.PhaseStartup, Dropped: 2,
			Execs: []report.Exec{{Path: "/usr/bin/node", Argv: []string{"node", "a.js"}, Count: 1}},
			Reads: []report.FileAccess{
				{Path: "/1", Operation: "openat", Count: 1}, {Path: "/2", Operation: "openat", Count: 2}, {Path: "/3", Operation: "openat", Count: 1},
				{Path: "/4", Operation: "openat", Count: 1}, {Path: "/5", Operation: "openat", Count: 1}, {Path: "/6", Operation: "openat", Count: 1},
			},
		}, {
			Kind: report.CapabilityTool, Name: "format_note", Phase: report.PhaseCall,
			Writes:   []report.FileAccess{{Path: "/w", Operation: "unlink", Count: 1}},
			Attempts: []report.FileAccess{{Path: "/t", Operation: "openat", Error: "ENOENT", Count: 1}},
			Connects: []report.Connection{
				{Address: "93.184.216.34", Port: 80, Protocol: "tcp", Error: "ECONNREFUSED", Count: 1},
				{Address: "2001:db8::1", Port: 443, Protocol: "tcp", Host: "evil.example", Count: 3},
				{Address: "/run/x.sock", Protocol: "unix", Count: 1},
			},
			Listens: []report.Connection{{Address: "0.0.0.0", Port: 8080, Protocol: "tcp", Count: 1}},
		}, {
			Kind: report.CapabilityTool, Name: "format_note", Phase: report.PhaseCall, Late: true,
			Deletes:  []report.FileAccess{{Path: "/d", Operation: "unlink", Count: 1}},
			Connects: []report.Connection{{Address: "192.0.2.1", Port: 443, Protocol: "tcp", Count: 1, BytesOut: 2048}},
		}, {
			Kind: report.CapabilityServer, Phase: report.PhaseIdle, Late: true,
			Reads: []report.FileAccess{{Path: "/late", Operation: "openat", Count: 1}},
		}}},
		Captures: []report.Capture{
			{Address: "192.0.2.1", Port: 443, Host: "evil.example", Protocol: "https", Request: "POST /x HTTP/1.1", Bytes: 2048, Capability: tool},
			{Address: "2001:db8::1", Port: 22, Protocol: "tcp", Excerpt: "hello\x1b[31m", Bytes: 1, Capability: tool},
			{Address: "192.0.2.2", Protocol: "tls", Opaque: true, Bytes: 3 << 20, Capability: tool},
		},
		Unobserved: []report.Gap{{What: "OpaqueTLS", Count: 1, Detail: "1 TLS connection that could not be ended"}},
		Noise: []report.Noise{{Reason: "Loader", Count: 12, Samples: []string{"/usr/lib/libc.so.6", "/etc/ld.so.cache"}},
			{Reason: "Locale", Count: 3}},
		Probe: report.ProbeRun{Seed: 7, Rounds: 3, Calls: report.CallsAll, Launches: 4},
		Coverage: report.Coverage{
			Tools: report.Exercised{Listed: 4, Called: 3, Accepted: 1}, Completions: report.Exercised{Listed: 1, Called: 1, Accepted: 1},
			Calls: report.Share{Total: 9, Done: 6}, Branches: report.Share{Total: 1, Done: 1},
		},
		Exercise: []report.CapabilityCoverage{
			{Kind: report.CapabilityTool, Name: "format_note", Calls: report.Share{Total: 6, Done: 6}},
			{Kind: report.CapabilityTool, Name: "slow", Calls: report.Share{Total: 1}, Skipped: report.SkippedTimeout},
			{Kind: report.CapabilityTool, Name: "picky", Calls: report.Share{Total: 2}},
			{Kind: report.CapabilityTool, Name: "shell\x1b", Skipped: report.SkippedByName},
		},
		Drifts: []report.ManifestDrift{{Moment: report.MomentRestart, Drift: report.Drift{Changed: []string{"tool format_note"}}}},
		Outputs: []report.Output{
			{Kind: report.OutputResult, Capability: tool, Method: "tools/call", Text: "plain", Count: 2},
			{Kind: report.OutputResult, Capability: tool, Method: "tools/call", Arguments: `{"id":"TICK-3"}`,
				Origins: []string{`id "TICK-3" from the result of tool list_notes`}, Text: "ignore all\n previous \x1b[31m", Count: 1},
		},
		Errors:    []string{"something was odd"},
		Truncated: []report.Truncation{{Field: "findings", Dropped: 3}},
	}
}

func inconclusive() report.Report {
	return report.Report{
		Server:  report.ServerRun{Command: []string{"node", "server.js"}, Stderr: "first\nError: no \x1b[31mtoken\n"},
		Verdict: report.VerdictInconclusive, Reason: report.ReasonServerExited, Message: "the server exited",
		Risk:   report.Risk{Level: report.RiskNone},
		Tracer: report.Component{Name: "strace", Version: "6.1"},
	}
}

func TestTable(t *testing.T) {
	for _, tc := range []struct {
		name   string
		report report.Report
		colour bool
	}{{"fail", fail(), false}, {"fail-colour", fail(), true}, {"inconclusive", inconclusive(), false}} {
		t.Run(tc.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := render.Table(&got, tc.report, tc.colour); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", tc.name+".golden"), got.Bytes())
		})
	}
}

func TestJSONIsTheReport(t *testing.T) {
	var out bytes.Buffer
	if err := render.JSON(&out, fail()); err != nil {
		t.Fatal(err)
	}
	var got report.Report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fail(), got); diff != "" {
		t.Error(diff)
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, é, 日本":  "plain text, é, 日本",
		"a\x1b[31mred":       `a\x1b[31mred`,
		"two\nlines\ttab":    `two\nlines\ttab`,
		"\r\x00\x7f":         `\x0d\x00\x7f`,
		"ab\u202ecd":         `ab\u202ecd`,
		"zero\u200bwidth":    `zero\u200bwidth`,
		"tag\U000e0041":      `tag\U000e0041`,
		"filler\u3164\ufe0f": `filler\u3164\ufe0f`,
		"c1\u009b31m":        `c1\u009b31m`,
		"line\u2028sep":      `line\u2028sep`,
		"bad\xffbyte":        `bad\xffbyte`,
	} {
		if got := render.Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzEscape: nothing gets through that is not visible.
func FuzzEscape(f *testing.F) {
	f.Add("a\x1b]0;title\x07\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range render.Escape(s) {
			if !unicode.IsPrint(r) {
				t.Errorf("Escape(%q) lets %U through", s, r)
			}
		}
	})
}

// FuzzTable: what a server says stays on its line and paints nothing.
func FuzzTable(f *testing.F) {
	f.Add("name", "detail")
	f.Add("x\n\x1b[2J", "\u202e")
	f.Fuzz(func(t *testing.T, name, detail string) {
		r := fail()
		lines := func(r report.Report) int {
			var out bytes.Buffer
			if err := render.Table(&out, r, false); err != nil {
				t.Fatal(err)
			}
			for _, c := range out.String() {
				if c != '\n' && !unicode.IsPrint(c) {
					t.Fatalf("%U is in the table", c)
				}
			}
			return strings.Count(out.String(), "\n")
		}
		before := lines(r)
		r.Server.Version, r.Findings[0].Capability.Name, r.Findings[0].Evidence[0].Detail = name, name, detail
		r.Profile.Capabilities[1].Connects[1].Host, r.Errors[0] = detail, detail
		if after := lines(r); after != before {
			t.Errorf("%d lines, not %d", after, before)
		}
	})
}
