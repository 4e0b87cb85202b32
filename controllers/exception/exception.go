// Package exception writes the status of MCPAuditExceptions. controllers/gate decides anew for
// each request whether an exception admits anything; the status explains that decision to
// people and deployments.
package exception

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// target is the known state of an exception's policy.
type target struct {
	// found is set if the policy exists and has a gate.
	found bool
	// ignores is set if it has trust.ignoreExceptions.
	ignores bool
}

// judge returns the conditions of an exception: Active says whether it admits anything, Ready
// whether all that its spec asks for is done. They differ in two cases.
//
// An expired exception is Ready: its end was known from the start. With Ready False, a GitOps
// tool would from then on fail every deployment that contains the exception, until somebody
// commits its removal.
//
// An exception whose policy is missing is not Ready yet, but not Stalled: both may be applied
// together, in any order.
//
// invalid is the reason why the exception never counts; nil if it does.
func judge(e *v1alpha1.MCPAuditException, invalid error, policy target, now time.Time) (active, ready conditions.Condition) {
	name := fmt.Sprintf("%s %s", e.Spec.PolicyRef.Kind, e.Spec.PolicyRef.Name)
	until := e.Spec.ExpiresAt.UTC().Format(time.RFC3339)
	switch {
	case !now.Before(e.Spec.ExpiresAt.Time):
		message := fmt.Sprintf("The exception ended at %s and admits nothing any more; what runs is left alone. It can be deleted.", until)
		return conditions.False(v1alpha1.ReasonExpired, message), conditions.True(v1alpha1.ReasonExpired, message)
	case invalid != nil:
		message := fmt.Sprintf("The exception admits nothing: %s. Delete it, and create a correct one.", invalid)
		return conditions.False(v1alpha1.ReasonInvalidSpec, message), conditions.False(v1alpha1.ReasonInvalidSpec, message)
	case !policy.found:
		message := fmt.Sprintf("There is no %s with a gate: the exception admits nothing until there is.", name)
		return conditions.False(v1alpha1.ReasonPolicyNotFound, message), conditions.Unknown(v1alpha1.ReasonPolicyNotFound, message)
	case policy.ignores:
		message := fmt.Sprintf("%s has trust.ignoreExceptions: the exception admits nothing.", name)
		return conditions.False(v1alpha1.ReasonIgnored, message), conditions.False(v1alpha1.ReasonIgnored, message)
	default:
		message := fmt.Sprintf("Until %s it admits what %s denies (%s).", until, name, e.Spec.Ticket)
		return conditions.True(v1alpha1.ReasonActive, message), conditions.True(v1alpha1.ReasonActive, message)
	}
}
