package cluster

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// An audit's state in the words of list and show.

// verdict returns the verdict of the last audit, or the phase of the first one.
func verdict(a *v1alpha1.MCPServerAudit) string {
	switch {
	case a.Status.Verdict != "":
		return string(a.Status.Verdict)
	case a.Status.Phase != "":
		return string(a.Status.Phase)
	}
	return string(v1alpha1.PhasePending)
}

// reason returns the reason of Ready, or of Audited for an inconclusive audit.
func reason(a *v1alpha1.MCPServerAudit) string {
	ready, audited := condition(a, v1alpha1.ConditionReady), condition(a, v1alpha1.ConditionAudited)
	switch {
	case ready == nil:
		return ""
	case ready.Reason == v1alpha1.ReasonAuditInconclusive && audited != nil:
		return audited.Reason
	}
	return ready.Reason
}

func condition(a *v1alpha1.MCPServerAudit, of string) *metav1.Condition {
	return meta.FindStatusCondition(a.Status.Conditions, of)
}

// auditing returns the condition of the audit in progress; nil if there is none.
func auditing(a *v1alpha1.MCPServerAudit) *metav1.Condition {
	if c := condition(a, v1alpha1.ConditionAuditing); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// settled reports whether the status is for the current spec.
func settled(a *v1alpha1.MCPServerAudit) bool { return a.Status.ObservedGeneration == a.Generation }

// decided reports whether the current spec has a verdict or waits for a change.
func decided(a *v1alpha1.MCPServerAudit) bool {
	stalled := condition(a, v1alpha1.ConditionStalled)
	return settled(a) && (a.Status.Verdict != "" || stalled != nil && stalled.Status == metav1.ConditionTrue)
}

// letters formats counts for a narrow column: "1C 2H 1I (1 suppressed)".
func letters(of *v1alpha1.FindingCounts) string {
	if of == nil {
		return ""
	}
	all := of.Counts()
	if all.Total() == 0 {
		return "none"
	}
	var parts []string
	for i, n := range []int{all.Critical, all.High, all.Medium, all.Low, all.Info} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d%.1s", n, report.Severities[i]))
		}
	}
	text := strings.Join(parts, " ")
	if all.Suppressed > 0 {
		text += fmt.Sprintf(" (%d suppressed)", all.Suppressed)
	}
	return text
}

// risk returns the score and level: "92 Critical".
func risk(a *v1alpha1.MCPServerAudit) string {
	if a.Status.RiskScore == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", *a.Status.RiskScore, a.Status.RiskLevel))
}

// next returns when the next audit is due: "in 2h".
func next(a *v1alpha1.MCPServerAudit, now time.Time) string {
	running := auditing(a)
	switch at := a.Status.NextAuditTime; {
	case running != nil:
		return strings.ToLower(running.Reason)
	case a.Spec.Suspend:
		return "suspended"
	case !settled(a):
		return "pending"
	case at == nil:
		return ""
	case at.After(now):
		return "in " + duration.HumanDuration(at.Sub(now))
	}
	return "due"
}

// ago returns the age of a time: "3m ago".
func ago(at *metav1.Time, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(at.Time), 0)) + " ago"
}

// moment returns a time in UTC, for readers in any time zone.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// pinned returns the image by digest, for use in a workload; empty unless it passed.
func pinned(a *v1alpha1.MCPServerAudit) string {
	if audited := a.Status.Audited; a.Status.Verdict == v1alpha1.VerdictPass && audited != nil && audited.Image == a.Spec.Server.Image {
		return audited.Pin()
	}
	return ""
}
