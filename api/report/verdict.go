package report

import (
	"cmp"
	"fmt"
)

// Verdict is the outcome of an audit.
// +kubebuilder:validation:Enum=Pass;Fail;Inconclusive
type Verdict string

// The verdicts.
const (
	// VerdictPass: the audit was complete and no finding reached the threshold.
	VerdictPass Verdict = "Pass"
	// VerdictFail: a finding reached the threshold, or the manifest is not the baseline's.
	VerdictFail Verdict = "Fail"
	// VerdictInconclusive: the audit could not observe everything that it had to.
	VerdictInconclusive Verdict = "Inconclusive"
)

// Reason is the reason of a verdict. Causes lists those of Inconclusive.
// +kubebuilder:validation:MaxLength=64
type Reason string

// The reasons of Pass and Fail.
const (
	// ReasonPassed goes with Pass.
	ReasonPassed Reason = "Passed"
	// ReasonFindingsAboveThreshold goes with Fail.
	ReasonFindingsAboveThreshold Reason = "FindingsAboveThreshold"
	// ReasonManifestDrifted goes with Fail: the manifest is not the baseline's.
	ReasonManifestDrifted Reason = "ManifestDrifted"
)

// Incomplete says why an audit could not observe everything; the zero value: it could.
type Incomplete struct {
	// reason in one word.
	Reason Reason `json:"reason"`
	// message explains the reason in one sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty" cap:"1024"`
}

// +kubebuilder:object:generate=false

// Demand has the conditions of a Pass.
type Demand struct {
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn Severity
	// MinAssurance is the lowest assurance of a Pass; DefaultMinAssurance if empty.
	MinAssurance AssuranceLevel
}

// DefaultMinAssurance is the lowest assurance of a Pass by default.
const DefaultMinAssurance = AssurancePartial

// Unmet returns why an audit cannot pass even without findings: it is incomplete, or its
// assurance is too low.
func (d Demand) Unmet(incomplete Incomplete, rests Assurance) Incomplete {
	return cmp.Or(incomplete, rests.below(cmp.Or(d.MinAssurance, DefaultMinAssurance)))
}

// Judge decides the verdict of an audit. It is pure, and the only place that makes a verdict:
// the runner calls it for the report, and the manager again with the demand of the spec.
//
// Findings at or above the threshold are a Fail even if the audit is incomplete. Without
// them, an audit that is incomplete or has too little assurance is Inconclusive, never a
// Pass. Suppressed findings do not fail an audit, but the message counts them; findings whose
// suppression has expired do.
func Judge(findings []Finding, demand Demand, incomplete Incomplete, rests Assurance) (Verdict, Reason, string) {
	failOn := demand.FailOn
	counting := Counting(findings)
	counts, aside := Count(counting), besides(findings)
	if n := counts.AtOrAbove(failOn); n > 0 {
		message := fmt.Sprintf("%s at or above %s", plural(n, "finding"), failOn)
		if all := counts.String(); all != fmt.Sprintf("%d %s", n, failOn) {
			message += ": " + all
		}
		return VerdictFail, ReasonFindingsAboveThreshold, message + aside
	}
	if unmet := demand.Unmet(incomplete, rests); unmet.Reason != "" {
		return VerdictInconclusive, unmet.Reason, unmet.Message + aside
	}
	message := "Pass, of " + rests.Basis() + ": "
	if counts.Total() == 0 {
		return VerdictPass, ReasonPassed, message + "no findings" + aside
	}
	return VerdictPass, ReasonPassed, message + fmt.Sprintf("%s, none at or above the threshold: %s%s",
		plural(counts.Total(), "finding"), counts, aside)
}

// besides sums up suppressions, such as "; suppressed: 1 High; suppressed no more: 2
// findings".
func besides(findings []Finding) (text string) {
	var held []Finding
	expired := 0
	for _, f := range findings {
		switch {
		case f.held():
			f.Suppressed = nil
			held = append(held, f)
		case f.Suppressed != nil:
			expired++
		}
	}
	if len(held) > 0 {
		text = "; suppressed: " + Count(held).String()
	}
	if expired > 0 {
		text += "; suppressed no more: " + plural(expired, "finding")
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
