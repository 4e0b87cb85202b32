package render

import (
	"fmt"
	"io"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sarifAudit has our own properties of a run: the outcome of the audit.
type sarifAudit struct {
	Verdict        string          `json:"verdict"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message"`
	FailOn         string          `json:"failOn"`
	Server         sarifServer     `json:"server"`
	ManifestDigest string          `json:"manifestDigest,omitempty"`
	BehaviorDigest string          `json:"behaviorDigest,omitempty"`
	RulesetDigest  string          `json:"rulesetDigest,omitempty"`
	Risk           report.Risk     `json:"risk"`
	Coverage       report.Coverage `json:"coverage"`
	Assurance      sarifAssurance  `json:"assurance,omitzero"`
	Findings       report.Counts   `json:"findings"`
}

// sarifAssurance is report.Assurance in plain text.
type sarifAssurance struct {
	Level   string   `json:"level"`
	Tools   string   `json:"tools"`
	Because []string `json:"because,omitempty"`
}

// sarifServer describes what was audited.
type sarifServer struct {
	Name            string `json:"name"`
	Version         string `json:"version,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	Transport       string `json:"transport,omitempty"`
}

// SARIF writes the report in the Static Analysis Results Interchange Format 2.1.0, with
// what GitHub code scanning needs. An inconclusive audit is an unsuccessful invocation and
// a result: readers that look only at results must not take it for a success.
//
// A report is within GitHub's limits by its own caps: at most 256 findings of 25,000,
// 4 steps of evidence of 10,000 for each, 256 KiB of 10 MB.
func SARIF(w io.Writer, r report.Report) error {
	return writeJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{sarifRunOf(r)}}, "SARIF")
}

func sarifRunOf(r report.Report) sarifRun {
	book := &ruleBook{rules: []sarifRule{}, at: map[string]int{}}
	run := sarifRun{
		AutomationDetails: sarifAutomation{ID: "mcpaudit/" + sarifCategory(serverName(r)) + "/"},
		ColumnKind:        "unicodeCodePoints",
		Results:           sarifResults(r, book),
		Properties:        sarifAuditOf(r),
	}
	invocation, descriptors := sarifInvocationOf(r)
	run.Invocations = []sarifInvocation{invocation}
	run.Tool.Driver = sarifDriver{
		Name: "mcpaudit", Version: orUnknown(r.Runner.Version), SemanticVersion: semantic(r.Runner.Version),
		InformationURI: homePage, Rules: book.rules, Notifications: descriptors,
	}
	return run
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return sarifPlain(report.Cut(text, 128))
}

var (
	semver  = lazyregexp.New(`^v?((0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(0|[1-9A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z.-]+)?)$`)
	outside = lazyregexp.New(`[^A-Za-z0-9._-]+`)
)

// semantic returns a version if it follows Semantic Versioning 2.0.0, or "".
func semantic(version string) string {
	if parts := semver.FindStringSubmatch(version); parts != nil && len(version) <= 128 {
		return parts[1]
	}
	return ""
}

// sarifCategory returns a name for use in an id: GitHub takes the part before the last
// slash for the category, which tells the audits of two servers apart.
func sarifCategory(name string) string { return outside.ReplaceAllString(report.Cut(name, 100), "-") }

func sarifAuditOf(r report.Report) sarifAudit {
	failOn := string(r.FailOn)
	if failOn == "" {
		failOn = "Never"
	}
	audit := sarifAudit{
		Verdict: sarifPlain(string(r.Verdict)), Reason: sarifPlain(string(r.Reason)), Message: sarifPlain(r.Message), FailOn: sarifPlain(failOn),
		Server: sarifServer{
			Name: sarifPlain(serverName(r)), Version: sarifPlain(r.Server.Version),
			ProtocolVersion: sarifPlain(r.Server.ProtocolVersion), Transport: sarifPlain(string(r.Server.Transport)),
		},
		ManifestDigest: sarifPlain(r.ManifestDigest), BehaviorDigest: sarifPlain(r.Behavior.Digest), RulesetDigest: sarifPlain(r.RulesetDigest),
		Risk: r.Risk, Coverage: r.Coverage, Findings: report.Count(r.Findings),
	}
	audit.Risk.Level, audit.Risk.Parts = report.RiskLevel(sarifPlain(string(r.Risk.Level))), nil // the parts' words are the findings' own
	audit.Assurance = sarifAssurance{Level: sarifPlain(string(r.Assurance.Level)), Tools: sarifPlain(r.Assurance.Tools)}
	for _, why := range r.Assurance.Because {
		audit.Assurance.Because = append(audit.Assurance.Because, sarifPlain(why))
	}
	if r.Verdict == report.VerdictPass && unseen(r) != nil {
		audit.Verdict = string(report.VerdictInconclusive)
	}
	return audit
}

// The notifications, besides those that have a Reason for their id.
const (
	noticeProblem   = "AuditProblem"
	noticeGap       = "NotSeen"
	noticeTruncated = "LeftOut"
)

// sarifInvocationOf describes the audit as an invocation.
func sarifInvocationOf(r report.Report) (sarifInvocation, []sarifDescriptor) {
	n := notices{at: map[string]int{}}
	why := unseen(r)
	if why != nil {
		n.add(sarifPlain(string(why.Reason)), "The audit could not observe everything", "error", why.Message)
	}
	for _, e := range r.Errors {
		n.add(noticeProblem, "A problem of the audit itself", "warning", e)
	}
	for _, g := range r.Unobserved {
		n.add(noticeGap, "Something that the audit could not see into", "warning", fmt.Sprintf("%s (%d): %s", g.What, g.Count, g.Detail))
	}
	for _, t := range r.Truncated {
		n.add(noticeTruncated, "Something that the report has no room for", "warning", fmt.Sprintf("%d of %s were left out", t.Dropped, t.Field))
	}
	return sarifInvocation{
		ExecutionSuccessful: why == nil, StartTime: sarifTime(r.StartTime), EndTime: sarifTime(r.EndTime),
		ToolExecutionNotifications: n.all,
	}, n.descriptors
}

// notices has notifications, and the descriptors that they refer to.
type notices struct {
	all         []sarifNotification
	descriptors []sarifDescriptor
	at          map[string]int
}

func (n *notices) add(id, about, level, text string) {
	at, ok := n.at[id]
	if !ok {
		at = len(n.descriptors)
		n.at[id] = at
		text := sarifText{Text: about + "."}
		n.descriptors = append(n.descriptors, sarifDescriptor{ID: id, ShortDescription: text, FullDescription: text, Help: text})
	}
	n.all = append(n.all, sarifNotification{Descriptor: sarifReference{ID: id, Index: at}, Level: level, Message: sarifText{Text: sarifPlain(text)}})
}

// sarifTime formats a time for SARIF (3.9), in milliseconds; nil if it is not known.
func sarifTime(at report.Time) *time.Time {
	if at.IsZero() || at.Year() > 9999 {
		return nil
	}
	t := at.UTC().Truncate(time.Millisecond)
	return &t
}
