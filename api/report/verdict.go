package report

import "fmt"

// Verdict is the outcome of an audit.
type Verdict string

// The verdicts.
const (
	// VerdictPass: the audit was complete and nothing reached the threshold.
	VerdictPass Verdict = "Pass"
	// VerdictFail: something at or above the threshold was observed.
	VerdictFail Verdict = "Fail"
	// VerdictInconclusive: the audit could not observe all that it had to.
	VerdictInconclusive Verdict = "Inconclusive"
)

// Reason says why a verdict is what it is. The reasons of an Inconclusive
// verdict are at once the reasons of the condition Audited=False.
type Reason string

// The reasons.
const (
	// ReasonPassed goes with Pass.
	ReasonPassed Reason = "Passed"
	// ReasonFindingsAboveThreshold goes with Fail.
	ReasonFindingsAboveThreshold Reason = "FindingsAboveThreshold"
	// ReasonManifestDrifted goes with Fail: the manifest is not the baseline's.
	ReasonManifestDrifted Reason = "ManifestDrifted"

	// ReasonServerExited: the server ended before it had answered everything.
	ReasonServerExited Reason = "ServerExited"
	// ReasonTimeout: a request, or the audit as a whole, got no answer in time.
	ReasonTimeout Reason = "Timeout"
	// ReasonNotListening: the server did not listen where it was to be talked to.
	ReasonNotListening Reason = "NotListening"
	// ReasonProtocolError: what the server said is not MCP.
	ReasonProtocolError Reason = "ProtocolError"
	// ReasonNothingAdvertised: there was nothing to exercise, so nothing was seen.
	ReasonNothingAdvertised Reason = "NothingAdvertised"
	// ReasonNotTraced: the server runs elsewhere, so that only what it says was seen.
	ReasonNotTraced Reason = "NotTraced"
	// ReasonUnreachable: nothing listens where the URL of the server leads.
	ReasonUnreachable Reason = "Unreachable"
	// ReasonNotExercised: what was asked for left tools out, or they refused every call.
	ReasonNotExercised Reason = "NotExercised"
	// ReasonCodeFetched: the server fetched code over the network when it started.
	ReasonCodeFetched Reason = "CodeFetched"
	// ReasonTracerLost: the tracer ended before the server did.
	ReasonTracerLost Reason = "TracerLost"
	// ReasonTracerUnavailable: the tracer could not attach.
	ReasonTracerUnavailable Reason = "TracerUnavailable"
	// ReasonReportTruncated: there was more to report than the caps allow.
	ReasonReportTruncated Reason = "ReportTruncated"
	// ReasonTraceOverflow: events were dropped before they could be judged.
	ReasonTraceOverflow Reason = "TraceOverflow"
	// ReasonSandboxFailed: the server could not be started in its sandbox.
	ReasonSandboxFailed Reason = "SandboxFailed"
	// ReasonCodeLoaded: the environment that was asked for makes the server load code
	// that may not be there where it runs without it.
	ReasonCodeLoaded Reason = "CodeLoaded"
	// ReasonImagePullFailed: the image could not be had (set by the manager).
	ReasonImagePullFailed Reason = "ImagePullFailed"
	// ReasonOOMKilled: the server or the runner ran out of memory (set by the manager,
	// and by the command line for --memory).
	ReasonOOMKilled Reason = "OOMKilled"
	// ReasonImageMismatch: another image was run than the resolved one (set by the manager).
	ReasonImageMismatch Reason = "ImageMismatch"
	// ReasonPodFailed: the audit Pod was deleted, or ended without a report in a way
	// that none of the other reasons names (set by the manager).
	ReasonPodFailed Reason = "PodFailed"
	// ReasonUnschedulable: no node took the audit Pod (set by the manager).
	ReasonUnschedulable Reason = "Unschedulable"
	// ReasonEvicted: the audit Pod was evicted, preempted or shut down with its
	// node (set by the manager).
	ReasonEvicted Reason = "Evicted"
	// ReasonNodeLost: the node of the audit Pod does not answer, or is gone (set by
	// the manager).
	ReasonNodeLost Reason = "NodeLost"
	// ReasonRunnerFailed: the runner crashed, or what it says cannot be understood
	// (set by the manager).
	ReasonRunnerFailed Reason = "RunnerFailed"
	// ReasonRunNamespaceUnusable: the run namespace does not exist, or forbids audit
	// Pods (set by the manager).
	ReasonRunNamespaceUnusable Reason = "RunNamespaceUnusable"
	// ReasonReportLost: the runner finished, but its report could not be read,
	// verified or stored (set by the manager).
	ReasonReportLost Reason = "ReportLost"
)

// IncompleteReasons are all reasons why an audit may be incomplete. A reason that
// is not among them was made up, or is newer than this version.
var IncompleteReasons = []Reason{
	ReasonImagePullFailed, ReasonImageMismatch, ReasonPodFailed, ReasonUnschedulable, ReasonEvicted, ReasonNodeLost,
	ReasonRunnerFailed, ReasonOOMKilled, ReasonTimeout, ReasonServerExited, ReasonNothingAdvertised, ReasonNotExercised, ReasonCodeFetched,
	ReasonNotListening, ReasonNotTraced, ReasonUnreachable, ReasonProtocolError, ReasonTracerLost, ReasonTracerUnavailable,
	ReasonTraceOverflow, ReasonCodeLoaded, ReasonSandboxFailed, ReasonRunNamespaceUnusable, ReasonReportTruncated, ReasonReportLost,
}

// Incomplete is why an audit could not observe everything. The zero value
// means that it could.
type Incomplete struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Judge decides the verdict of a set of findings. It is pure, and the only
// place where a verdict is made: the runner calls it for the report, the
// manager calls it again with the threshold of the spec.
//
// What was seen stays seen: findings at or above the threshold are a Fail even
// when the audit was cut short. Without them an incomplete audit is
// Inconclusive, never a Pass. Suppressed findings fail nothing, and every message
// says how many there are; those whose suppression has expired do.
func Judge(findings []Finding, failOn Severity, incomplete Incomplete) (Verdict, Reason, string) {
	counting := Counting(findings)
	counts, aside := Count(counting), besides(findings)
	if n := counts.AtOrAbove(failOn); n > 0 {
		message := fmt.Sprintf("%s at or above %s", plural(n, "finding"), failOn)
		if all := counts.String(); all != fmt.Sprintf("%d %s", n, failOn) {
			message += ": " + all
		}
		return VerdictFail, ReasonFindingsAboveThreshold, message + aside
	}
	if incomplete.Reason != "" {
		return VerdictInconclusive, incomplete.Reason, incomplete.Message + aside
	}
	if counts.Total() == 0 {
		return VerdictPass, ReasonPassed, "no findings" + aside
	}
	return VerdictPass, ReasonPassed, fmt.Sprintf("%s, none at or above the threshold: %s%s",
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
