// Package conditions sets the conditions of audits, policies and exceptions, each with its
// observedGeneration and a bounded message.
package conditions

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// MaxMessage bounds a message in bytes of JSON, so all conditions together stay below 8 KB.
const MaxMessage = 1024

// Condition is the status, reason and message of a condition.
type Condition struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// True returns a Condition with status True.
func True(reason, message string) Condition { return Condition{metav1.ConditionTrue, reason, message} }

// False returns a Condition with status False.
func False(reason, message string) Condition {
	return Condition{metav1.ConditionFalse, reason, message}
}

// Unknown returns a Condition with status Unknown.
func Unknown(reason, message string) Condition {
	return Condition{metav1.ConditionUnknown, reason, message}
}

// Set sets a condition for the audit's current generation. now becomes lastTransitionTime if
// the status changed.
func Set(audit *v1alpha1.MCPServerAudit, conditionType string, c Condition, now time.Time) {
	SetOf(&audit.Status.Conditions, audit.Generation, conditionType, c, now)
}

// Remove removes a condition.
func Remove(audit *v1alpha1.MCPServerAudit, conditionType string) {
	meta.RemoveStatusCondition(&audit.Status.Conditions, conditionType)
}

// Find returns a condition, or nil.
func Find(audit *v1alpha1.MCPServerAudit, conditionType string) *metav1.Condition {
	return meta.FindStatusCondition(audit.Status.Conditions, conditionType)
}

// Reason returns the reason of a condition, or "".
func Reason(audit *v1alpha1.MCPServerAudit, conditionType string) string {
	if c := Find(audit, conditionType); c != nil {
		return c.Reason
	}
	return ""
}

// Confirm sets observedGeneration of all conditions to the current one, after a spec change
// that does not affect them.
func Confirm(audit *v1alpha1.MCPServerAudit) {
	for i := range audit.Status.Conditions {
		audit.Status.Conditions[i].ObservedGeneration = audit.Generation
	}
}
