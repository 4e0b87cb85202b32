// Package slots decides who is audited next. An audit Pod runs a stranger's
// server, so only so many exist at a time: Limits.Total in all, and
// Limits.PerNamespace for the audits of one namespace. Who finds no slot waits.
//
// Who is admitted is decided by the line (line.go), a pure function of who waits,
// who runs and the time:
//
//  1. The class: somebody waits for the verdict, before a verdict may be wrong,
//     before one that is only renewed.
//  2. Within a class the namespace: the one with the fewest audits running, then
//     the one served least recently, then the one that has waited longest. A
//     namespace with a thousand audits does not hold up one with a single audit.
//  3. Within a namespace whoever has waited longest.
//
// Nobody starves: of every four admissions, in all and of each namespace, one goes
// by age alone, to the claim that has waited longest, once that is more than 30
// minutes. A share is taken, and not a class raised: when all rules change, the
// line is longer than any such time for a day, and a person who asks for an audit
// in the middle of it would stand behind all of it.
//
// Nobody waits in vain: while a claim could be admitted, no slot is free.
//
// The Queue (queue.go) knows how many slots are free. It counts Pods, and not
// what it has admitted: whatever exists takes room, whoever made it. What the
// cache of Pods does not show yet is expected, from the admission to the day the
// Pod is seen. Nothing is stored. After a restart the line forms anew of what is
// reconciled, each with the time since when it has waited by its status, and the
// Pods are counted once past the cache.
package slots

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Limits are how many audit Pods may exist at a time.
type Limits struct {
	Total, PerNamespace int
}

// Class is how urgent an audit is; the least is the most urgent.
type Class int

// The classes.
const (
	// Requested: somebody waits for the verdict, having created or changed the
	// audit, or asked for it.
	Requested Class = iota
	// Drifted: something changed that nobody told, so that the verdict may be wrong.
	Drifted
	// Routine: a verdict is renewed.
	Routine

	classes = iota
)

var classNames = [classes]string{Requested: "requested", Drifted: "drift", Routine: "scheduled"}

func (c Class) String() string { return classNames[c] }

// ClassOf is the class of an audit by why it is made. What the table does not
// know is routine: a new trigger must not push ahead of people.
func ClassOf(reason v1alpha1.TriggerReason) Class {
	switch reason {
	case v1alpha1.TriggerRequested, v1alpha1.TriggerNeverAudited, v1alpha1.TriggerSpecChanged, v1alpha1.TriggerBaselineChanged:
		return Requested
	case v1alpha1.TriggerImageChanged, v1alpha1.TriggerSuppressionExpired:
		return Drifted
	}
	return Routine
}

// Claim is an audit that could run now.
type Claim struct {
	// Key of the MCPServerAudit. It has one claim at a time.
	Key   types.NamespacedName
	Class Class
	// Since is when it began to wait.
	Since time.Time
}

// Holder is an audit Pod that exists.
type Holder struct {
	// Pod is its name, and Namespace that of the audit it is for.
	Pod, Namespace string
	UID            types.UID
	// Until is when it stops to count, gone or not: a Pod on a node that is lost
	// may stay for ever, and no audit is held up that long.
	Until time.Time
}
