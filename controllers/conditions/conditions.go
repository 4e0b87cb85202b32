// Package conditions writes the conditions of audits, policies and exceptions, each
// with the generation that it is about and a message of bounded length.
package conditions

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// MaxMessage is the most bytes of JSON that a message takes, so that all the
// conditions together stay below 8 KB of the status.
const MaxMessage = 1024

// Condition is a condition without its bookkeeping.
type Condition struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// True makes a Condition that is True.
func True(reason, message string) Condition { return Condition{metav1.ConditionTrue, reason, message} }

// False makes a Condition that is False.
func False(reason, message string) Condition {
	return Condition{metav1.ConditionFalse, reason, message}
}

// Unknown makes a Condition that is Unknown.
func Unknown(reason, message string) Condition {
	return Condition{metav1.ConditionUnknown, reason, message}
}

// Set writes a condition about the current generation of the audit. now is when its
// status changed, if it did.
func Set(audit *v1alpha1.MCPServerAudit, conditionType string, c Condition, now time.Time) {
	SetOf(&audit.Status.Conditions, audit.Generation, conditionType, c, now)
}

// Remove takes a condition away.
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

// Confirm makes every condition be about the current generation, for a change
// of the spec that what the conditions say does not depend on.
func Confirm(audit *v1alpha1.MCPServerAudit) {
	for i := range audit.Status.Conditions {
		audit.Status.Conditions[i].ObservedGeneration = audit.Generation
	}
}
