package report

import (
	"fmt"
	"strings"
	"testing"
)

// hostileTexts have the pieces that a server's texts may be made of, those that take the most room
// or trouble: JSON escapes, invalid bytes, wide runes, overrides.
var hostileTexts = map[string]string{
	"plain": "x", "control": "\x01", "markup": "<", "quote": `"`, "separator": "\u2028", "invalid": "\xff", "wide": "\U0001f600", "override": "\u202e",
}

// flood is a report with 10,000 tools that have a megabyte of description each, and
// 1,000 findings with as much of evidence. The texts are one in memory.
func flood(text string) Report {
	long := strings.Repeat(text, 1<<20/len(text))
	r := Report{Verdict: VerdictPass, Reason: ReasonPassed, Server: ServerRun{Name: long, Version: long, Stderr: long, Exit: long, Command: []string{long}}}
	for i := range 10_000 {
		r.Manifest.Tools = append(r.Manifest.Tools, Item{Name: fmt.Sprint(i) + long[:1200], Title: long, Description: long, Definition: long, Digest: "sha256:" + strings.Repeat("a", 64)})
		r.Exercise = append(r.Exercise, CapabilityCoverage{Kind: CapabilityTool, Name: long})
	}
	capability := Capability{Kind: CapabilityTool, Name: long}
	for range 1_000 {
		r.Findings = append(r.Findings, Finding{Rule: "MCPA-READ-001", Severity: SeverityLow, Title: long, Message: long, Mitigation: long, Capability: capability,
			Evidence: []Evidence{{Syscall: long, Detail: long}, {Detail: long}, {Detail: long}, {Detail: long}, {Detail: long}}})
		r.Profile.Capabilities = append(r.Profile.Capabilities, CapabilityProfile{Kind: CapabilityTool, Name: long,
			Reads: []FileAccess{{Path: long}}, Execs: []Exec{{Path: long, Argv: []string{long, long}}}})
		r.Outputs = append(r.Outputs, Output{Capability: capability, Text: long, Arguments: long, Method: long, Origins: []string{long}})
		r.Captures = append(r.Captures, Capture{Address: long, Host: long, Request: long, Excerpt: long})
		r.Unobserved = append(r.Unobserved, Gap{Detail: long})
		r.Scope = append(r.Scope, ScopeClause{Means: long, Quote: long, Field: long})
		r.Errors = append(r.Errors, long)
		r.Behavior.Entries = append(r.Behavior.Entries, long)
	}
	return r
}

// roundTrip encodes a report, which must hold its limit, and decodes it. To cap it twice must not
// change it.
func roundTrip(t *testing.T, r Report) (encoded []byte, got Report) {
	t.Helper()
	encoded, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > MaxBytes {
		t.Errorf("%d bytes, more than %d", len(encoded), MaxBytes)
	}
	if got, err = Decode(encoded); err != nil {
		t.Fatal(err)
	}
	if again, err := Encode(got); err != nil || string(again) != string(encoded) {
		t.Errorf("capping twice is not capping once: %d and %d bytes, %v", len(encoded), len(again), err)
	}
	return encoded, got
}

func TestFloodHoldsTheCaps(t *testing.T) {
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			r := flood(text)
			encoded, got := roundTrip(t, r)
			if got.Verdict != VerdictInconclusive || got.Reason != ReasonReportTruncated {
				t.Errorf("the report is %s, %s", got.Verdict, got.Reason)
			}
			dropped := map[string]int{}
			for _, cut := range got.Truncated {
				dropped[cut.Field] = cut.Dropped
			}
			if dropped["findings"] != 1_000-len(got.Findings) || dropped["manifest.tools"] != 10_000-len(got.Manifest.Tools) {
				t.Errorf("%d findings and %d tools are left, and %v is said to be dropped", len(got.Findings), len(got.Manifest.Tools), dropped)
			}
			if len(got.Findings) < 20 {
				t.Errorf("%d findings are left", len(got.Findings))
			}
			t.Logf("%d bytes, %d findings, %d tools", len(encoded), len(got.Findings), len(got.Manifest.Tools))
			got.Message = strings.Repeat(text, 1_000)
			if summary, err := Summarise(got, encoded).Encode(); err != nil {
				t.Errorf("summary of %d bytes: %v", len(summary), err)
			}
		})
	}
}
