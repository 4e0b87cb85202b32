package verdict_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

func exceeds(severity report.Severity) func(*report.Report) {
	return func(r *report.Report) {
		r.Findings = append(r.Findings, report.Finding{Rule: "MCPA-EGRESS-001", Severity: severity, Message: "tool a connected to b.example:443", ExceedsScope: true})
	}
}

// suppressed marks all findings that are there.
func suppressed(expired bool) func(*report.Report) {
	return func(r *report.Report) {
		for i := range r.Findings {
			r.Findings[i].Suppressed = &report.Suppressed{Reason: "accepted", Until: report.At(time.Unix(1, 0)), Expired: expired}
		}
	}
}

func TestScopeConformant(t *testing.T) {
	failed := says(report.VerdictFail, report.ReasonFindingsAboveThreshold, "")
	timeout := says(report.VerdictInconclusive, report.ReasonTimeout, "no answer")
	for name, test := range map[string]struct {
		in               verdict.Input
		conformant       string
		verdict          string
		ready, readySays string
	}{
		"no scope":                {verdict.Input{Report: passed()}, "NoScopeDeclared", "Pass", "Passed", "Pass, of 1 of 1 tools: no findings."},
		"within":                  {verdict.Input{Scoped: true, Report: passed()}, "WithinScope", "Pass", "Passed", "Pass, of 1 of 1 tools: no findings."},
		"exceeded":                {verdict.Input{Scoped: true, Report: passed(failed, exceeds("High"))}, "ScopeExceeded", "Fail", "ScopeExceeded", "b.example:443"},
		"exceeded and more":       {verdict.Input{Scoped: true, Report: passed(failed, exceeds("High"), finds("High"))}, "ScopeExceeded", "Fail", "FindingsAboveThreshold", "2 findings at or above High."},
		"below the threshold":     {verdict.Input{Scoped: true, FailOn: "Critical", Report: passed(exceeds("High"))}, "ScopeExceeded", "Pass", "Passed", "none at or above the threshold: 1 High."},
		"other findings":          {verdict.Input{Scoped: true, Report: passed(failed, finds("High"))}, "WithinScope", "Fail", "FindingsAboveThreshold", "1 finding at or above High."},
		"cut short":               {verdict.Input{Scoped: true, Report: passed(timeout)}, "AuditIncomplete", "Inconclusive", "AuditInconclusive", "(Timeout), so it says neither yes nor no."},
		"exceeded, and cut short": {verdict.Input{Scoped: true, Report: passed(timeout, exceeds("High"))}, "ScopeExceeded", "Fail", "ScopeExceeded", "1 finding at or above High."},
		"accepted":                {verdict.Input{Scoped: true, Report: passed(failed, exceeds("High"), suppressed(false))}, "WithinScope", "Pass", "Passed", "suppressed: 1 High"},
		"no longer accepted":      {verdict.Input{Scoped: true, Report: passed(failed, exceeds("High"), suppressed(true))}, "ScopeExceeded", "Fail", "ScopeExceeded", "suppressed no more: 1 finding."},
	} {
		t.Run(name, func(t *testing.T) {
			test.in.FailOn = cmp.Or(test.in.FailOn, "High")
			got := verdict.Judge(test.in)
			if got.ScopeConformant.Reason != test.conformant || string(got.Verdict) != test.verdict || got.Ready.Reason != test.ready || !strings.Contains(got.Ready.Message, test.readySays) {
				t.Errorf("ScopeConformant %s, %s, Ready %s: %s", got.ScopeConformant.Reason, got.Verdict, got.Ready.Reason, got.Ready.Message)
			}
		})
	}
}

// TestSuppressedIsNotObserved: an audit that was cut short stays so when the finding
// that had failed it is accepted.
func TestSuppressedIsNotObserved(t *testing.T) {
	cut := passed(says(report.VerdictFail, report.ReasonFindingsAboveThreshold, ""), finds("High"), suppressed(false))
	cut.Incomplete = &report.Incomplete{Reason: report.ReasonTimeout, Message: "no answer to tools/call"}
	got := verdict.Judge(verdict.Input{FailOn: "High", Report: cut})
	if got.Verdict != "Inconclusive" || got.Audited.Reason != "Timeout" {
		t.Errorf("verdict %s, Audited %s", got.Verdict, got.Audited.Reason)
	}
}
