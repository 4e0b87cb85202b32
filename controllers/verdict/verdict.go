// Package verdict computes the verdict on a server and the conditions that explain it, from the
// report or the reason why there is none, and the spec's threshold and baseline. It is pure.
package verdict

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Input has everything that a verdict depends on.
type Input struct {
	// FailOn, MinAssurance and Baseline as in the spec.
	FailOn       v1alpha1.FailOn
	MinAssurance report.AssuranceLevel
	Baseline     v1alpha1.Baseline
	// Scoped means that the spec has a declaredScope.
	Scoped bool
	// Known is the baseline in the status; empty if there is none yet.
	Known v1alpha1.Digest
	// KnownManifest is the baseline's manifest if a kept report has it; else nil.
	KnownManifest *report.Manifest
	// Change describes how the manifest differs from KnownManifest; empty if it does not, or if
	// that is unknown.
	Change string

	// Report is the runner's; nil if there is none.
	Report *report.Report
	// Summary is the runner's; nil if there is none.
	Summary *report.Summary
	// Failure is the reason why the audit is incomplete, besides the report's own reason; zero if it is
	// not.
	Failure report.Incomplete
	// ReportName is the report with the evidence; empty if there is none.
	ReportName string
}

// Outcome is the verdict and its explanation.
type Outcome struct {
	Verdict v1alpha1.Verdict
	// Reason and Message are the report's, judged again.
	Reason  report.Reason
	Message string
	// Assurance is zero without a report.
	Assurance report.Assurance

	Ready           conditions.Condition
	Audited         conditions.Condition
	ScopeConformant conditions.Condition
	ManifestStable  conditions.Condition

	ManifestDigest v1alpha1.Digest
	BaselineDigest v1alpha1.Digest
	// Drift is nil if the manifest matches the baseline, or if there is none.
	Drift *report.Drift
}

// Judge computes the verdict. Observations count: findings above the threshold or a changed
// manifest fail even an incomplete audit. Without them, an incomplete audit is Inconclusive.
func Judge(in Input) Outcome {
	rests := in.assurance()
	incomplete := in.demand().Unmet(in.incomplete(), rests)
	manifest := in.manifestDigest()
	held := compare(in, manifest)
	outcome := Outcome{
		Audited: audited(in, incomplete), ScopeConformant: conformant(in, incomplete), ManifestStable: held.stable,
		ManifestDigest: manifest, BaselineDigest: held.baseline, Drift: held.drift, Assurance: rests,
	}
	verdict, reason, message := judge(in, incomplete, rests)
	switch {
	case verdict == report.VerdictFail:
		outcome.Ready = conditions.False(failReason(in), failMessage(in, message, held))
	case held.drift != nil:
		verdict, reason, message = report.VerdictFail, report.ReasonManifestDrifted, held.stable.Message
		outcome.Ready = conditions.False(v1alpha1.ReasonManifestDrifted, message)
	case verdict == report.VerdictPass:
		outcome.Ready = conditions.True(v1alpha1.ReasonPassed, excerpt.Sentence(message))
	default:
		outcome.Ready = conditions.False(readyReason(reason), fmt.Sprintf(
			"The audit could not observe everything (%s), so it says neither yes nor no. %s",
			reason, explain(report.Incomplete{Reason: reason, Message: message})))
	}
	outcome.Verdict, outcome.Reason, outcome.Message = verdict, reason, message
	return outcome
}

// judge applies the threshold to the findings, or uses the runner's verdict if the findings
// were lost.
func judge(in Input, incomplete report.Incomplete, rests report.Assurance) (report.Verdict, report.Reason, string) {
	if in.Report == nil && in.Summary != nil && in.Summary.Verdict == report.VerdictFail {
		return report.VerdictFail, report.ReasonFindingsAboveThreshold, in.Summary.Message
	}
	var findings []report.Finding
	if in.Report != nil {
		findings = in.Report.Findings
	}
	return report.Judge(findings, in.demand(), incomplete, rests)
}

func (in Input) demand() report.Demand {
	return report.Demand{FailOn: threshold(in.FailOn), MinAssurance: in.MinAssurance}
}

// assurance returns the report's; a runner of an earlier version omits it. Without a report an
// audit is incomplete anyway.
func (in Input) assurance() report.Assurance {
	switch r := in.Report; {
	case r == nil:
		return report.Assurance{}
	case r.Assurance.Level != "":
		return r.Assurance
	default:
		return report.AssuranceOf(*r)
	}
}

// threshold returns the severity of a FailOn; empty for Never.
func threshold(failOn v1alpha1.FailOn) report.Severity {
	if failOn == v1alpha1.FailOnNever {
		return ""
	}
	return report.Severity(failOn)
}

// incomplete returns why the audit is incomplete, with a reason that this version knows, as it
// becomes a condition and a metric label.
func (in Input) incomplete() report.Incomplete {
	found := in.unobserved()
	if found == nil {
		return report.Incomplete{}
	}
	if _, known := report.CauseOf(found.Reason); known {
		return *found
	}
	return report.Incomplete{Reason: report.ReasonRunnerFailed,
		Message: fmt.Sprintf("the runner gave the unknown reason %q: %s", excerpt.Line(string(found.Reason), 64), found.Message)}
}

// unobserved returns why the audit is incomplete, or nil. The manager's reasons take
// precedence, as they explain the runner's.
func (in Input) unobserved() *report.Incomplete {
	r := in.Report
	switch {
	case in.Failure.Reason != "":
		return &in.Failure
	case r == nil:
		return &report.Incomplete{Reason: report.ReasonPodFailed, Message: "there is no report"}
	case r.Verdict == report.VerdictInconclusive:
		return &report.Incomplete{Reason: r.Reason, Message: r.Message}
	case r.Server.URL != "": // its actions were not observed, whatever the findings
		return &report.Incomplete{Reason: report.ReasonNotTraced, Message: "the server runs elsewhere, so that only what it says was seen"}
	case r.Incomplete != nil: // the findings that failed it may be suppressed
		return r.Incomplete
	case len(r.Truncated) > 0:
		return &report.Incomplete{Reason: report.ReasonReportTruncated,
			Message: fmt.Sprintf("the report had to leave out %d of %s", r.Truncated[0].Dropped, r.Truncated[0].Field)}
	case r.Verdict != report.VerdictPass && r.Verdict != report.VerdictFail:
		return &report.Incomplete{Reason: report.ReasonRunnerFailed, Message: fmt.Sprintf("the runner gave the unknown verdict %q", r.Verdict)}
	case r.Verdict == report.VerdictFail && report.Count(r.Findings).AtOrAbove(threshold(in.FailOn)) == 0:
		// Both apply the same threshold, so a difference means that something was lost.
		return &report.Incomplete{Reason: report.ReasonReportTruncated, Message: "the runner found a reason to fail that its report does not contain"}
	}
	return nil
}

func (in Input) manifestDigest() v1alpha1.Digest {
	switch {
	case in.Report != nil:
		return v1alpha1.Digest(in.Report.ManifestDigest)
	case in.Summary != nil:
		return v1alpha1.Digest(in.Summary.ManifestDigest)
	}
	return ""
}

func readyReason(reason report.Reason) string {
	if reason == report.ReasonImagePullFailed {
		return v1alpha1.ReasonImageUnresolvable
	}
	return v1alpha1.ReasonAuditInconclusive
}

func audited(in Input, incomplete report.Incomplete) conditions.Condition {
	if incomplete.Reason != "" {
		return conditions.False(string(incomplete.Reason), explain(incomplete))
	}
	return conditions.True(v1alpha1.ReasonCompleted, "The server was watched from its first system call to its last; "+coverage(in.Report.Coverage)+".")
}

// coverage formats what was called: "1 of 1 tools and 0 of 2 prompts were called".
func coverage(c report.Coverage) string {
	var parts []string
	for _, kind := range []struct {
		name string
		report.Exercised
	}{{"tools", c.Tools}, {"resources", c.Resources}, {"resource templates", c.ResourceTemplates}, {"prompts", c.Prompts}} {
		if kind.Listed > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", kind.Called, kind.Listed, kind.name))
		}
	}
	if len(parts) == 0 {
		return "it advertises nothing that could be called"
	}
	return "called were " + strings.Join(parts, ", ")
}
