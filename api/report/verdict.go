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
	// VerdictPass: the audit was complete and nothing reached the threshold.
	VerdictPass Verdict = "Pass"
	// VerdictFail: something at or above the threshold was observed, or the manifest is
	// not the baseline's.
	VerdictFail Verdict = "Fail"
	// VerdictInconclusive: the audit could not observe all that it had to.
	VerdictInconclusive Verdict = "Inconclusive"
)

// Reason says why a verdict is what it is. Causes has those of Inconclusive.
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

// Incomplete is why an audit could not observe everything. The zero value
// means that it could.
type Incomplete struct {
	// reason in a word.
	Reason Reason `json:"reason"`
	// message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty" cap:"1024"`
}

// Demand holds the conditions of a Pass.
type Demand struct {
	// FailOn is the lowest severity that makes the verdict Fail; empty: none does.
	FailOn Severity
	// MinAssurance is the lowest assurance of a Pass; empty stands for DefaultMinAssurance.
	MinAssurance AssuranceLevel
}

// DefaultMinAssurance is the lowest assurance of a Pass unless somebody says otherwise.
const DefaultMinAssurance = AssurancePartial

// Unmet returns why an audit cannot pass whatever it found: because it is incomplete, or
// because too little of the server accepted a call.
func (d Demand) Unmet(incomplete Incomplete, rests Assurance) Incomplete {
	return cmp.Or(incomplete, rests.below(cmp.Or(d.MinAssurance, DefaultMinAssurance)))
}

// Judge decides the verdict of a set of findings. It is pure, and the only
// place where a verdict is made: the runner calls it for the report, the
// manager calls it again with the demand of the spec.
//
// What was seen stays seen: findings at or above the threshold are a Fail even
// when the audit was cut short. Without them an incomplete audit, and one of too little
// assurance, is Inconclusive, never a Pass. Suppressed findings fail nothing, and every
// message says how many there are; those whose suppression has expired do.
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

// besides says what suppressions have to do with the findings: "; suppressed: 1
// High; suppressed no more: 2 findings".
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
