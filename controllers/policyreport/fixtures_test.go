package policyreport_test

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

var auditedAt = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

func hash(of string) v1alpha1.Digest { return v1alpha1.Digest("sha256:" + strings.Repeat(of, 64)) }

func set(a *v1alpha1.MCPServerAudit, of string, status metav1.ConditionStatus, reason, message string) {
	for i := range a.Status.Conditions {
		if c := &a.Status.Conditions[i]; c.Type == of {
			c.Status, c.Reason, c.Message = status, reason, message
			return
		}
	}
	a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{
		Type: of, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(auditedAt),
	})
}

// passed has an audit that found nothing.
func passed(a *v1alpha1.MCPServerAudit) {
	digest, err := trigger.SpecDigest(a.Spec)
	if err != nil {
		panic(err)
	}
	a.Status = v1alpha1.MCPServerAuditStatus{
		ObservedGeneration: a.Generation, Verdict: v1alpha1.VerdictPass, Phase: v1alpha1.PhasePassed,
		ImageDigest: hash("a"), ManifestDigest: hash("1"), LastAuditTime: new(metav1.NewTime(auditedAt)),
		Audited:  &v1alpha1.AuditedServer{Image: "registry.example/notes:1", Platform: "linux/amd64"},
		Findings: &v1alpha1.FindingCounts{}, RiskScore: new(int32(0)), ReportRef: &v1alpha1.ReportReference{Name: "notes-1"},
		Trigger: &v1alpha1.Trigger{Reason: v1alpha1.TriggerNeverAudited, Run: "notes-1", SpecDigest: digest},
	}
	set(a, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPassed, "Pass, of 3 of 3 tools: no findings.")
	set(a, v1alpha1.ConditionAudited, metav1.ConditionTrue, v1alpha1.ReasonCompleted, "Everything was observed.")
	set(a, v1alpha1.ConditionManifestStable, metav1.ConditionTrue, v1alpha1.ReasonFirstUse, "First use.")
}

// failed has an audit with a finding of each kind.
func failed(a *v1alpha1.MCPServerAudit) {
	passed(a)
	a.Status.Verdict, a.Status.Phase = v1alpha1.VerdictFail, v1alpha1.PhaseFailed
	a.Status.Findings = &v1alpha1.FindingCounts{Critical: 1, High: 22, Low: 1, Suppressed: 1}
	a.Status.TopFindings = []v1alpha1.TopFinding{
		{Rule: "MCPA-SECRET-002", Severity: "Critical", Capability: "tool format_note", Message: "Tool format_note sent a decoy.", Evidence: "09:30 pid 7: write"},
		{Rule: "MCPA-EGRESS-001", Severity: "High", Capability: "tool format_note", Message: "Tool format_note tried to connect.", Suppressed: "until 2026-12-31: known"},
		{Rule: "MCPA-FILE-001", Severity: "High", Capability: "server", Message: "The server read a file.", Suppressed: "expired 2026-01-31: was known"},
		{Rule: "MCPA-HINT-001", Severity: "Low", Capability: "tool format_note", Message: "Tool format_note is not idempotent."},
	}
	set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonFindingsAboveThreshold, "2 findings at or above High.")
}

// inconclusive has an audit that did not see everything.
func inconclusive(a *v1alpha1.MCPServerAudit) {
	passed(a)
	a.Status.Verdict, a.Status.Phase, a.Status.Findings, a.Status.ReportRef = v1alpha1.VerdictInconclusive, v1alpha1.PhaseInconclusive, nil, nil
	set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAuditInconclusive, "The tracer was lost.")
	set(a, v1alpha1.ConditionAudited, metav1.ConditionFalse, "TracerLost", "The tracer was lost.")
}
