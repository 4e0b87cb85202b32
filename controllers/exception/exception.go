// Package exception writes the status of MCPAuditExceptions. Whether an exception
// admits anything is decided anew for each request by controllers/gate: the status
// tells people and deployments what that decision goes by.
package exception

import (
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// target describes what is known of the policy of an exception.
type target struct {
	// found: there is such a policy, and it has a gate.
	found bool
	// ignores: it has trust.ignoreExceptions.
	ignores bool
}

// judge tells what to write of an exception: Active says whether it admits anything,
// Ready whether all is done that its spec asks for. They differ in two cases.
//
// One that has expired is Ready: it is the end of an exception, known from the start.
// With Ready False a GitOps tool would fail every deployment that has the exception in
// it from that moment on, and the cure would be a commit at a time that nobody chose.
//
// One whose policy is missing is not Ready yet, and not Stalled: both may be applied
// together, in any order.
//
// invalid says why the exception does not count whatever else is so; nil if it does.
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
