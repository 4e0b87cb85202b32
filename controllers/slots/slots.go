// Package slots decides which audit runs next. An audit Pod runs untrusted code, so their
// number is limited: Limits.Total overall, and Limits.PerNamespace per namespace of the audits.
// Others wait.
//
// The line (line.go) decides as a pure function of the waiting and running audits and the time:
//
//  1. The class: somebody waits for the verdict, then the verdict may be wrong, then it
//     is only renewed.
//  2. Within a class the namespace: with the fewest running audits, then served least
//     recently, then waiting longest. A namespace with a thousand audits does not hold
//     up one with a single audit.
//  3. Within a namespace the longest wait.
//
// Nothing starves: one in four admissions, overall and of each namespace, goes by age alone to
// the oldest claim that has waited for more than 30 minutes. This is a share rather than a
// higher class: when all rules change, the line is long for a day, and a person's request in
// the middle of it would otherwise wait behind all of it.
//
// No slot stays free while a claim could be admitted.
//
// The Queue (queue.go) counts the free slots by Pods, not by admissions: every existing Pod
// takes a slot, whoever made it. Pods that the cache does not show yet are expected, from
// admission until they appear. Nothing is stored. After a restart the line is rebuilt by
// reconciliations, with the waiting times in the statuses, and the Pods are counted once with a
// live list.
package slots

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Limits bounds the audit Pods at a time.
type Limits struct {
	Total, PerNamespace int
}

// Class is the urgency of an audit; lower is more urgent.
type Class int

// The classes.
const (
	// Requested: somebody created, changed or requested the audit and waits for the verdict.
	Requested Class = iota
	// Drifted: something changed unannounced, so the verdict may be wrong.
	Drifted
	// Routine: a verdict is renewed.
	Routine

	classes = iota
)

var classNames = [classes]string{Requested: "requested", Drifted: "drift", Routine: "scheduled"}

func (c Class) String() string { return classNames[c] }

// ClassOf returns the class of a trigger. Unknown triggers are routine: a new one must not
// overtake people.
func ClassOf(reason v1alpha1.TriggerReason) Class {
	switch reason {
	case v1alpha1.TriggerRequested, v1alpha1.TriggerNeverAudited, v1alpha1.TriggerSpecChanged, v1alpha1.TriggerBaselineChanged:
		return Requested
	case v1alpha1.TriggerImageChanged, v1alpha1.TriggerSuppressionExpired:
		return Drifted
	}
	return Routine
}

// Claim is an audit that is ready to run.
type Claim struct {
	// Key of the MCPServerAudit, which has at most one claim.
	Key   types.NamespacedName
	Class Class
	// Since is when it started waiting.
	Since time.Time
}

// Holder is an existing audit Pod.
type Holder struct {
	// Pod is its name, and Namespace that of the audit it is for.
	Pod, Namespace string
	UID            types.UID
	// Until is when it stops counting, even if it exists: a Pod on a lost node may stay
	// forever.
	Until time.Time
}
