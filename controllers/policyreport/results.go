package policyreport

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// The values of a result, common to both kinds.
const (
	resultPass  = "pass"
	resultFail  = "fail"
	resultWarn  = "warn"
	resultError = "error"
	resultSkip  = "skip"
)

// Source and category of every result, by which dashboards group.
const (
	sourceName  = "mcpaudit"
	category    = "MCP runtime audit"
	verdictRule = "verdict"
)

// Limits of texts in bytes of JSON, as in the status.
const (
	maxMessage  = 1024
	maxProperty = 512
)

type result struct {
	Source     string            `json:"source"`
	Policy     string            `json:"policy"`
	Rule       string            `json:"rule"`
	Category   string            `json:"category"`
	Severity   string            `json:"severity,omitempty"`
	Result     string            `json:"result"`
	Scored     bool              `json:"scored"`
	Message    string            `json:"message"`
	Timestamp  timestamp         `json:"timestamp"`
	Properties map[string]string `json:"properties,omitempty"`
}

// timestamp is metav1.Timestamp with both fields always set.
type timestamp struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

// summary counts the results of the report.
type summary struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Warn  int `json:"warn"`
	Error int `json:"error"`
	Skip  int `json:"skip"`
}

// results returns the verdict of the last audit, then the worst findings.
func results(audit *v1alpha1.MCPServerAudit) []result {
	all := []result{verdictOf(audit)}
	for _, finding := range audit.Status.TopFindings {
		all = append(all, findingOf(audit, finding))
	}
	return all
}

func summarise(all []result) summary {
	var s summary
	for _, r := range all {
		switch r.Result {
		case resultPass:
			s.Pass++
		case resultFail:
			s.Fail++
		case resultWarn:
			s.Warn++
		case resultSkip:
			s.Skip++
		default:
			s.Error++
		}
	}
	return s
}

// verdictOf returns the verdict's result. It is a pass only if the whole status says so for the
// current spec; anything else, including unknown values of newer operators, is an error, which
// no reader takes for success.
func verdictOf(audit *v1alpha1.MCPServerAudit) result {
	status := audit.Status
	ready := conditionOf(audit, v1alpha1.ConditionReady)
	line := of(audit, sourceName, verdictRule, ready.Message)
	line.Result, line.Severity = resultError, "high"
	switch {
	case status.Verdict == v1alpha1.VerdictFail:
		line.Result, line.Severity = resultFail, worst(status.Findings)
	case status.Verdict != v1alpha1.VerdictPass:
	case respecified(audit):
		line.Message = "The spec has changed since the audit, which passed: there is no verdict on it yet."
	case ready.Status == metav1.ConditionTrue && meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionAudited):
		line.Result, line.Severity = resultPass, "info"
	}
	properties := line.Properties
	properties["verdict"], properties["reason"] = string(status.Verdict), ready.Reason
	properties["audited"] = conditionOf(audit, v1alpha1.ConditionAudited).Reason
	properties["manifestStable"] = conditionOf(audit, v1alpha1.ConditionManifestStable).Reason
	properties["manifestDigest"] = string(status.ManifestDigest)
	if status.ReportRef != nil {
		properties["report"] = status.ReportRef.Name
	}
	if status.RiskScore != nil {
		properties["riskScore"] = fmt.Sprint(*status.RiskScore)
	}
	if rests := status.Assurance; rests != nil {
		properties["assurance"], properties["tools"] = string(rests.Level), rests.Tools
	}
	if e := status.Exposure; e != nil {
		properties["exposure"] = report.ExposureLine(int(e.Score), e.Level, e.Kinds)
	}
	if counts := status.Findings; counts != nil {
		all := counts.Counts()
		properties["findings"] = all.String()
		if hidden := all.Total() - len(status.TopFindings); hidden > 0 {
			properties["findingsOnlyInReport"] = fmt.Sprint(hidden)
		}
	}
	return finish(line)
}

// worst returns the worst finding's severity; high if only the manifest changed.
func worst(counts *v1alpha1.FindingCounts) string {
	if counts != nil && counts.Critical > 0 {
		return "critical"
	}
	return "high"
}

// respecified reports whether the verdict is for another spec.
func respecified(audit *v1alpha1.MCPServerAudit) bool {
	digest, err := trigger.DigestOf(audit)
	return err != nil || audit.Status.Trigger == nil || audit.Status.Trigger.SpecDigest != digest
}

// findingOf returns a finding's result: fail if it counts, warn if it is below the threshold,
// skip while it is suppressed.
func findingOf(audit *v1alpha1.MCPServerAudit, f v1alpha1.TopFinding) result {
	family := f.Rule
	if cut := strings.LastIndex(f.Rule, "-"); cut > 0 {
		family = f.Rule[:cut] // the prefix of MCPA-EGRESS-001 is MCPA-EGRESS
	}
	line := of(audit, cmp.Or(family, sourceName), f.Rule, f.Message)
	severity := report.Severity(f.Severity)
	if severity.Rank() < 0 {
		severity = report.SeverityCritical // as report.Count has it
	}
	line.Severity = strings.ToLower(string(severity))
	switch {
	case f.Suppressed != "" && !strings.HasPrefix(f.Suppressed, "expired "):
		line.Result = resultSkip
	case severity.AtLeast(report.Severity(cmp.Or(string(audit.Spec.FailOn), string(report.SeverityHigh)))):
		line.Result = resultFail
	default:
		line.Result = resultWarn
	}
	line.Properties["capability"], line.Properties["evidence"], line.Properties["suppressed"] = f.Capability, f.Evidence, f.Suppressed
	return finish(line)
}

// of starts a result.
func of(audit *v1alpha1.MCPServerAudit, policy, rule, message string) result {
	line := result{
		Source: sourceName, Policy: policy, Rule: rule, Category: category, Scored: true, Message: message,
		Properties: map[string]string{"imageDigest": string(audit.Status.ImageDigest)},
	}
	if audited := audit.Status.Audited; audited != nil {
		line.Properties["image"], line.Properties["platform"] = audited.Image, audited.Platform
	}
	if at := audit.Status.LastAuditTime; at != nil {
		line.Timestamp.Seconds = at.Unix()
		line.Properties["auditedAt"] = at.UTC().Format(time.RFC3339)
	}
	return line
}

// finish cuts and cleans the texts, and drops empty properties.
func finish(line result) result {
	line.Policy, line.Rule, line.Message = excerpt.Line(line.Policy, maxProperty), excerpt.Line(line.Rule, maxProperty), excerpt.Line(line.Message, maxMessage)
	for key, value := range line.Properties {
		if value == "" {
			delete(line.Properties, key)
			continue
		}
		line.Properties[key] = excerpt.Line(value, maxProperty)
	}
	return line
}

func conditionOf(audit *v1alpha1.MCPServerAudit, name string) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(audit.Status.Conditions, name), metav1.Condition{})
}
