package render_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// junitOf tells the state of each case, by name, and holds the counts to the cases.
func junitOf(t *testing.T, r report.Report) map[string]string {
	t.Helper()
	var got struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(written(t, "junit", r), &got); err != nil {
		t.Fatal(err)
	}
	states, n := map[string]string{}, map[string]int{}
	for _, c := range got.Suite.Cases {
		state := "passed"
		switch {
		case c.Failure != nil:
			state = "failed"
		case c.Error != nil:
			state = "error"
		case c.Skipped != nil:
			state = "skipped"
		}
		if states[c.Name] != "" {
			t.Errorf("two cases are called %q", c.Name)
		}
		states[c.Name] = state
		n[state]++
	}
	if s := got.Suite; s.Tests != len(s.Cases) || s.Failures != n["failed"] || s.Errors != n["error"] || s.Skipped != n["skipped"] {
		t.Errorf("%+v, and there are %v", s, n)
	}
	return states
}

// TestJUnitIsNoFalsePass: of an audit that did not see everything no case passes.
func TestJUnitIsNoFalsePass(t *testing.T) {
	lost := honest()
	lost.Incomplete = &report.Incomplete{Reason: report.ReasonTracerLost}
	cut := fail()
	cut.Incomplete = &report.Incomplete{Reason: report.ReasonTimeout}
	uncalled := honest()
	uncalled.Manifest.Tools = append(uncalled.Manifest.Tools, report.Item{Name: "hidden"})
	twins := honest()
	twins.Exercise[0].Name, twins.Exercise[1].Name, twins.Manifest = "a\x1b", `a\x1b`, report.Manifest{}
	odd := honest()
	odd.Verdict = "Excellent"
	for name, tc := range map[string]struct {
		report report.Report
		want   string
	}{
		"honest":            {honest(), "audit passed, server passed, tool clock passed, tool format_note passed"},
		"suppressed":        {suppressed(), "audit passed, server passed, tool clock passed, tool format_note passed"},
		"inconclusive":      {inconclusive(), "audit error, server skipped"},
		"tracer lost":       {lost, "audit error, server skipped, tool clock skipped, tool format_note skipped"},
		"unknown verdict":   {odd, "audit error, server skipped, tool clock skipped, tool format_note skipped"},
		"remote":            {remote(), "audit error, server skipped, tool clock skipped, tool format_note skipped"},
		"drifted":           {drifted(), "audit failed, server passed, tool clock passed, tool format_note passed"},
		"failed, cut short": {cut, `audit failed, server skipped, tool format_note failed, tool picky skipped, tool shell\x1b skipped, tool slow skipped`},
		"never called":      {uncalled, "audit passed, server passed, tool clock passed, tool format_note passed, tool hidden skipped"},
		"names alike":       {twins, `audit passed, server passed, tool a\x1b passed, tool a\x1b (2) passed`},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			for _, one := range strings.Split(tc.want, ", ") {
				at := strings.LastIndexByte(one, ' ')
				want[one[:at]] = one[at+1:]
			}
			if diff := cmp.Diff(want, junitOf(t, tc.report)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMarkdownIsNoFalsePass: the first line says what the audit came to.
func TestMarkdownIsNoFalsePass(t *testing.T) {
	lost, odd := honest(), honest()
	lost.Incomplete, odd.Verdict = &report.Incomplete{Reason: report.ReasonTracerLost}, "Excellent"
	for want, r := range map[string]report.Report{
		"## ✅ mcpaudit: Pass, `notes 1.0.0`":            honest(),
		"## ❌ mcpaudit: Fail, `notes 1.0.0`":            fail(),
		"## ❓ mcpaudit: Inconclusive, `notes 1.0.0`":    lost,
		"## ❓ mcpaudit: Inconclusive, `node server.js`": inconclusive(),
	} {
		if got, _, _ := strings.Cut(string(written(t, "markdown", r)), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := string(written(t, "markdown", odd)); !strings.HasPrefix(got, "## ❓ mcpaudit: Inconclusive") || !strings.Contains(got, "this is no pass") {
		t.Errorf("%q", got)
	}
}

// TestJUnitNothingAccepted: a capability that accepted no call was not seen at work.
func TestJUnitNothingAccepted(t *testing.T) {
	r := inconclusive()
	r.Verdict, r.Reason, r.Incomplete, r.Findings, r.Truncated = report.VerdictPass, report.ReasonPassed, nil, nil, nil
	r.Manifest = report.Manifest{Tools: []report.Item{{Name: "odd"}}}
	r.Exercise = []report.CapabilityCoverage{{Kind: report.CapabilityTool, Name: "odd", Calls: report.Share{Total: 3}}}
	if got := string(written(t, "junit", r)); !strings.Contains(got, "3 calls, none accepted") || !strings.Contains(got, `skipped="1"`) {
		t.Errorf("the case passes:\n%s", got)
	}
}
