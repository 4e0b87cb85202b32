package conditions

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// SetReady sets Ready of a policy or an exception, and the conditions that kstatus expects with
// it: Reconciling with Unknown, while work is in progress, and Stalled with False, when only a
// spec change helps.
func SetReady(conditions *[]metav1.Condition, generation int64, ready Condition, now time.Time) {
	SetOf(conditions, generation, v1alpha1.ConditionReady, ready, now)
	for kind, present := range map[string]bool{
		v1alpha1.ConditionReconciling: ready.Status == metav1.ConditionUnknown,
		v1alpha1.ConditionStalled:     ready.Status == metav1.ConditionFalse,
	} {
		if present {
			SetOf(conditions, generation, kind, True(ready.Reason, ready.Message), now)
		} else {
			meta.RemoveStatusCondition(conditions, kind)
		}
	}
}

// SetOf sets a condition for a generation.
func SetOf(conditions *[]metav1.Condition, generation int64, conditionType string, c Condition, now time.Time) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: conditionType, Status: c.Status, Reason: c.Reason, Message: excerpt.Line(c.Message, MaxMessage),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// Report sets one controller's condition of a ClusterMCPAuditPolicy, and Ready, which follows
// from both. Both controllers compute the same Ready, and the optimistic lock keeps each from
// undoing the other's part. A part that the spec does not use is not set.
func Report(policy *v1alpha1.ClusterMCPAuditPolicy, part string, c Condition, now time.Time) {
	wanted := map[string]bool{v1alpha1.ConditionGated: policy.Spec.Gate != nil, v1alpha1.ConditionDiscovered: policy.Spec.Discovery != nil}
	SetOf(&policy.Status.Conditions, policy.Generation, part, c, now)
	for kind, keep := range wanted {
		if !keep {
			meta.RemoveStatusCondition(&policy.Status.Conditions, kind)
		}
	}
	var ready *Condition
	for _, kind := range []string{v1alpha1.ConditionGated, v1alpha1.ConditionDiscovered} {
		have := meta.FindStatusCondition(policy.Status.Conditions, kind)
		switch {
		case !wanted[kind]:
		case have == nil || have.ObservedGeneration != policy.Generation:
			return // the other controller has not observed this spec yet
		default:
			ready = worse(ready, Condition{have.Status, have.Reason, have.Message})
		}
	}
	if ready == nil {
		ready = &Condition{metav1.ConditionTrue, v1alpha1.ReasonNothingToDo, "There is neither spec.discovery nor spec.gate: nothing is looked for, and nothing denied."}
	}
	SetReady(&policy.Status.Conditions, policy.Generation, *ready, now)
	policy.Status.ObservedGeneration = policy.Generation
}

// worse returns the worse of two conditions; if both are True, the first.
func worse(first *Condition, second Condition) *Condition {
	rank := map[metav1.ConditionStatus]int{metav1.ConditionTrue: 0, metav1.ConditionUnknown: 1, metav1.ConditionFalse: 2}
	switch {
	case first == nil, rank[second.Status] > rank[first.Status]:
		return &second
	case rank[second.Status] < rank[first.Status]:
		return first
	}
	return &Condition{first.Status, first.Reason, first.Message + " " + second.Message}
}
