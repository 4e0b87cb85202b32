package verdict_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

const (
	manifestA = v1alpha1.Digest("sha256:aaaa")
	manifestB = v1alpha1.Digest("sha256:bbbb")
)

func manifest(digest v1alpha1.Digest, tool string) report.Manifest {
	return report.Manifest{Digest: string(digest), Tools: []report.Item{{Name: "format_note", Digest: tool}}}
}

func passed(change ...func(*report.Report)) *report.Report {
	r := &report.Report{
		Verdict: report.VerdictPass, Reason: report.ReasonPassed, ManifestDigest: string(manifestA),
		Manifest: manifest(manifestA, "1"), Coverage: report.Coverage{Tools: report.Exercised{Listed: 1, Called: 1, Accepted: 1}},
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func finds(severities ...report.Severity) func(*report.Report) {
	return func(r *report.Report) {
		for _, severity := range severities {
			r.Findings = append(r.Findings, report.Finding{
				Severity: severity, Message: "tool format_note read ~/.ssh/id_rsa",
				Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"},
			})
		}
	}
}

func exercised(accepted, listed int) func(*report.Report) {
	return func(r *report.Report) {
		r.Coverage.Tools = report.Exercised{Listed: listed, Called: listed, Accepted: accepted}
	}
}

func says(v report.Verdict, reason report.Reason, message string) func(*report.Report) {
	return func(r *report.Report) { r.Verdict, r.Reason, r.Message = v, reason, message }
}

func elsewhere(r *report.Report) { r.Server.URL = "https://mcp.example.com/mcp" }

func advertises(digest v1alpha1.Digest, tool string) func(*report.Report) {
	return func(r *report.Report) {
		r.ManifestDigest, r.Manifest = string(digest), manifest(digest, tool)
		if digest == "" {
			r.Manifest = report.Manifest{}
		}
	}
}

func TestJudge(t *testing.T) {
	timeout := says(report.VerdictInconclusive, report.ReasonTimeout, "no answer to tools/list")
	failed := says(report.VerdictFail, report.ReasonFindingsAboveThreshold, "")
	for _, test := range []struct {
		name           string
		in             verdict.Input
		verdict        v1alpha1.Verdict
		ready, audited string
		message        string // a part of Ready's
	}{
		{"clean", verdict.Input{Report: passed()}, "Pass", "Passed", "Completed", "Pass, of 1 of 1 tools: no findings."},
		{"too little of it", verdict.Input{Report: passed(exercised(10, 23))}, "Inconclusive", "AuditInconclusive", "WeaklyExercised", "The audit rests on 10 of 23 tools, which is Weak, and Partial is required: 13 of 23 tools never accepted a call. Give the tools what they ask for"},
		{"too little of it, and accepted", verdict.Input{MinAssurance: "Weak", Report: passed(exercised(10, 23))}, "Pass", "Passed", "Completed", "Pass, of 10 of 23 tools: no findings."},
		{"too little of it, and findings", verdict.Input{Report: passed(exercised(1, 9), failed, finds("High"))}, "Fail", "FindingsAboveThreshold", "WeaklyExercised", "1 finding at or above High."},
		{"what the report says it rests on", verdict.Input{Report: passed(func(r *report.Report) { r.Assurance = report.Assurance{Level: "Weak", Tools: "1/4"} })},
			"Inconclusive", "AuditInconclusive", "WeaklyExercised", "1 of 4 tools"},
		{"below the threshold", verdict.Input{Report: passed(finds("Medium"))}, "Pass", "Passed", "Completed", "none at or above the threshold: 1 Medium."},
		{"at the threshold", verdict.Input{ReportName: "notes-1", Report: passed(failed, finds("High", "High"))}, "Fail", "FindingsAboveThreshold", "Completed",
			"2 findings at or above High. [High] Tool format_note read ~/.ssh/id_rsa. [High] Tool format_note read ~/.ssh/id_rsa. The evidence is in status.topFindings and, in full, in the MCPAuditReport notes-1."},
		{"many", verdict.Input{Report: passed(failed, finds("High", "High", "High", "Critical", "High"))}, "Fail", "FindingsAboveThreshold", "Completed", "And 2 more."},
		{"a severity of the future", verdict.Input{Report: passed(failed, finds("Apocalyptic"))}, "Fail", "FindingsAboveThreshold", "Completed", "[Apocalyptic] Tool format_note read"},
		{"only records", verdict.Input{FailOn: "Never", Report: passed(finds("Critical"))}, "Pass", "Passed", "Completed", "1 finding, none at or above the threshold: 1 Critical."},
		{"another threshold", verdict.Input{FailOn: "Low", Report: passed(finds("Medium"))}, "Fail", "FindingsAboveThreshold", "Completed", "1 finding at or above Low: 1 Medium."},

		{"cut short", verdict.Input{Report: passed(timeout)}, "Inconclusive", "AuditInconclusive", "Timeout", "(Timeout), so it says neither yes nor no. No answer to tools/list."},
		{"cut short after findings", verdict.Input{Report: passed(timeout, finds("High"))}, "Fail", "FindingsAboveThreshold", "Timeout", "1 finding at or above High. [High]"},
		{"elsewhere", verdict.Input{Report: passed(elsewhere, says(report.VerdictInconclusive, report.ReasonNotTraced, "x"))}, "Inconclusive", "AuditInconclusive", "NotTraced", "X. Findings and ManifestStable are all"},
		{"elsewhere never passes", verdict.Input{Report: passed(elsewhere)}, "Inconclusive", "AuditInconclusive", "NotTraced", "only what it says was seen"},
		{"elsewhere, with findings", verdict.Input{Report: passed(elsewhere, failed, finds("High"))}, "Fail", "FindingsAboveThreshold", "NotTraced", "1 finding at or above High. [High]"},
		{"not exercised", verdict.Input{Report: passed(says(report.VerdictInconclusive, report.ReasonNotExercised, "2 of 3 tools were left out"))}, "Inconclusive", "AuditInconclusive", "NotExercised", "2 of 3 tools were left out. What accepted no call was not audited"},
		{"truncated", verdict.Input{Report: passed(func(r *report.Report) { r.Truncated = []report.Truncation{{Field: "findings", Dropped: 3}} })}, "Inconclusive", "AuditInconclusive", "ReportTruncated", "leave out 3 of findings"},
		{"an unknown verdict", verdict.Input{Report: passed(says("Maybe", "", ""))}, "Inconclusive", "AuditInconclusive", "RunnerFailed", `unknown verdict "Maybe"`},
		{"no verdict", verdict.Input{Report: passed(says("", "", ""))}, "Inconclusive", "AuditInconclusive", "RunnerFailed", `unknown verdict ""`},
		{"an unknown reason", verdict.Input{Report: passed(says(report.VerdictInconclusive, "Moon is full", "x"))}, "Inconclusive", "AuditInconclusive", "RunnerFailed", `unknown reason "Moon is full": x.`},
		{"no reason", verdict.Input{Report: passed(says(report.VerdictInconclusive, "", ""))}, "Inconclusive", "AuditInconclusive", "RunnerFailed", `unknown reason ""`},
		{"no reason beside a failure that is suppressed", verdict.Input{Report: passed(func(r *report.Report) { r.Incomplete = &report.Incomplete{} })}, "Inconclusive", "AuditInconclusive", "RunnerFailed", `unknown reason ""`},
		{"a failure without findings", verdict.Input{Report: passed(failed)}, "Inconclusive", "AuditInconclusive", "ReportTruncated", "does not contain"},

		{"nothing at all", verdict.Input{}, "Inconclusive", "AuditInconclusive", "PodFailed", "There is no report."},
		{"no image", verdict.Input{Failure: report.Incomplete{Reason: report.ReasonImagePullFailed, Message: "not found"}}, "Inconclusive", "ImageUnresolvable", "ImagePullFailed", "Not found."},
		{"another image", verdict.Input{Report: passed(), Failure: report.Incomplete{Reason: report.ReasonImageMismatch, Message: "x"}}, "Inconclusive", "AuditInconclusive", "ImageMismatch", "(ImageMismatch), so it says neither yes nor no. X."},
		{"out of memory explains an exit", verdict.Input{Report: passed(says(report.VerdictInconclusive, report.ReasonServerExited, "killed")), Failure: report.Incomplete{Reason: report.ReasonOOMKilled, Message: "x"}}, "Inconclusive", "AuditInconclusive", "OOMKilled", "(OOMKilled), so it says neither yes nor no. X."},
		{"report lost, runner failed it", verdict.Input{Summary: &report.Summary{Verdict: report.VerdictFail, Message: "2 findings"}, Failure: report.Incomplete{Reason: report.ReasonReportLost, Message: "x"}}, "Fail", "FindingsAboveThreshold", "ReportLost", "2 findings."},
		{"report lost, runner passed it", verdict.Input{Summary: &report.Summary{Verdict: report.VerdictPass}, Failure: report.Incomplete{Reason: report.ReasonReportLost, Message: "x"}}, "Inconclusive", "AuditInconclusive", "ReportLost", "(ReportLost), so it says neither yes nor no. X."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.in.FailOn == "" {
				test.in.FailOn = "High"
			}
			got := verdict.Judge(test.in)
			if got.Verdict != test.verdict || got.Ready.Reason != test.ready || got.Audited.Reason != test.audited {
				t.Errorf("verdict %s, Ready %s, Audited %s; want %s, %s, %s", got.Verdict, got.Ready.Reason, got.Audited.Reason, test.verdict, test.ready, test.audited)
			}
			if !strings.Contains(got.Ready.Message, test.message) {
				t.Errorf("Ready says %q, want %q", got.Ready.Message, test.message)
			}
			if (got.Ready.Status == "True") != (test.verdict == "Pass") {
				t.Errorf("Ready is %s with verdict %s", got.Ready.Status, got.Verdict)
			}
		})
	}
}

func TestJudgeBaseline(t *testing.T) {
	known := manifest(manifestA, "1")
	pinned := v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: manifestA}
	none := v1alpha1.Baseline{Mode: v1alpha1.BaselineNone}
	changed := &report.Drift{Changed: []string{"tool format_note"}, Changes: []report.Change{{Capability: "tool format_note", Field: "definition"}}}
	for _, test := range []struct {
		name     string
		in       verdict.Input
		verdict  v1alpha1.Verdict
		ready    string
		stable   string
		baseline v1alpha1.Digest
		drift    *report.Drift
	}{
		{"first use", verdict.Input{Report: passed()}, "Pass", "Passed", "FirstUse", manifestA, nil},
		{"first use of a server that fails", verdict.Input{Report: passed(finds("High"))}, "Fail", "FindingsAboveThreshold", "FirstUse", manifestA, nil},
		{"first use, listed in part", verdict.Input{Report: passed(advertises("", ""))}, "Inconclusive", "AuditInconclusive", "ManifestIncomplete", "", nil},
		{"unchanged", verdict.Input{Known: manifestA, Report: passed()}, "Pass", "Passed", "MatchesBaseline", manifestA, nil},
		{"changed", verdict.Input{Known: manifestA, KnownManifest: &known, Report: passed(advertises(manifestB, "2"))}, "Fail", "ManifestDrifted", "ManifestDrifted", manifestA, changed},
		{"changed, baseline's report gone", verdict.Input{Known: manifestA, Report: passed(advertises(manifestB, "2"))}, "Fail", "ManifestDrifted", "ManifestDrifted", manifestA, &report.Drift{}},
		{"changed, and only recorded", verdict.Input{FailOn: "Never", Known: manifestA, KnownManifest: &known, Report: passed(advertises(manifestB, "2"))}, "Fail", "ManifestDrifted", "ManifestDrifted", manifestA, changed},
		{"changed, with findings", verdict.Input{Known: manifestA, KnownManifest: &known, Report: passed(advertises(manifestB, "2"), finds("High"))}, "Fail", "FindingsAboveThreshold", "ManifestDrifted", manifestA, changed},
		{"changed, and cut short", verdict.Input{Known: manifestA, KnownManifest: &known, Report: passed(advertises(manifestB, "2"), says(report.VerdictInconclusive, report.ReasonTimeout, "x"))}, "Fail", "ManifestDrifted", "ManifestDrifted", manifestA, changed},
		{"listed in part is no drift", verdict.Input{Known: manifestA, Report: passed(advertises("", ""), says(report.VerdictInconclusive, report.ReasonTimeout, "x"))}, "Inconclusive", "AuditInconclusive", "ManifestIncomplete", manifestA, nil},
		{"another image's is not trusted", verdict.Input{Report: passed(), Failure: report.Incomplete{Reason: report.ReasonImageMismatch}}, "Inconclusive", "AuditInconclusive", "ManifestIncomplete", "", nil},
		{"another image's is not compared", verdict.Input{Known: manifestA, Report: passed(advertises(manifestB, "2")), Failure: report.Incomplete{Reason: report.ReasonImageMismatch}}, "Inconclusive", "AuditInconclusive", "ManifestIncomplete", manifestA, nil},
		{"no report keeps the baseline", verdict.Input{Known: manifestA}, "Inconclusive", "AuditInconclusive", "ManifestIncomplete", manifestA, nil},
		{"pinned", verdict.Input{Baseline: pinned, Known: manifestB, Report: passed()}, "Pass", "Passed", "MatchesBaseline", manifestA, nil},
		{"pinned to another", verdict.Input{Baseline: pinned, Report: passed(advertises(manifestB, "2"))}, "Fail", "ManifestDrifted", "BaselineMismatch", manifestA, &report.Drift{}},
		{"no baseline", verdict.Input{Baseline: none, Known: manifestB, Report: passed()}, "Pass", "Passed", "NoBaseline", "", nil},
		{"report lost, manifest known to have changed", verdict.Input{Known: manifestA, KnownManifest: &known, Summary: &report.Summary{Verdict: report.VerdictPass, ManifestDigest: string(manifestB)}, Failure: report.Incomplete{Reason: report.ReasonReportLost}}, "Fail", "ManifestDrifted", "ManifestDrifted", manifestA, &report.Drift{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.in.FailOn == "" {
				test.in.FailOn = "High"
			}
			got := verdict.Judge(test.in)
			if got.Verdict != test.verdict || got.Ready.Reason != test.ready || got.ManifestStable.Reason != test.stable || got.BaselineDigest != test.baseline {
				t.Errorf("verdict %s, Ready %s, ManifestStable %s, baseline %s", got.Verdict, got.Ready.Reason, got.ManifestStable.Reason, got.BaselineDigest)
			}
			if diff := cmp.Diff(test.drift, got.Drift); diff != "" {
				t.Errorf("drift (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSentencesEndOnce(t *testing.T) {
	for said, want := range map[string]string{
		"no answer":                           " No answer. Find",
		`it is declared: "Purely local."`:     ` It is declared: "Purely local." Find`,
		`the runner gave the verdict "Maybe"`: ` The runner gave the verdict "Maybe". Find`,
		"the runner ended (exit status 1)":    " The runner ended (exit status 1). Find",
		"the text was cut…":                   " The text was cut… Find",
		"really?":                             " Really? Find",
	} {
		got := verdict.Judge(verdict.Input{Failure: report.Incomplete{Reason: report.ReasonPodFailed, Message: said}})
		if !strings.Contains(got.Ready.Message, want) {
			t.Errorf("%q became %q", said, got.Ready.Message)
		}
	}
}

func TestDriftMessageNamesTheFix(t *testing.T) {
	known := manifest(manifestA, "1")
	got := verdict.Judge(verdict.Input{FailOn: "High", Known: manifestA, KnownManifest: &known, Report: passed(advertises(manifestB, "2"))})
	for _, part := range []string{"changed: tool format_note", string(manifestA), string(manifestB), "mode Pinned"} {
		if !strings.Contains(got.Ready.Message, part) {
			t.Errorf("%q does not say %q", got.Ready.Message, part)
		}
	}
}
