package drift

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// stateOf returns the policy's state besides what runs. gated are the gate's namespaces, unread
// those whose Pods are not listed yet.
func (r *Reconciler) stateOf(p *policy, gated, unread map[string]bool) state {
	s := state{invalid: p.gate.Invalid, trustsAll: p.gate.Trust.AuditNamespaces == v1alpha1.AuditsAll, off: p.gate.Namespace != "" && !gated[p.gate.Namespace]}
	if r.Offline != nil {
		s.offline = r.Offline(p.gate.Ref, p.gate.Namespace)
	}
	for _, namespace := range slices.Sorted(maps.Keys(unread)) {
		if p.gate.Namespace == "" || p.gate.Namespace == namespace {
			s.unread = cmp.Or(s.unread, namespace)
		}
	}
	return s
}

// report writes the gate's part of a policy's status if it changed. What runs keeps its last
// value while unknown.
func (r *Reconciler) report(ctx context.Context, p *policy, t *tally, s state) error {
	ready, now := t.gated(s), r.Clock.Now()
	runs := t.status()
	if s.unread != "" {
		runs = gateOf(p.object).DeepCopy()
	}
	switch before := p.object.(type) {
	case *v1alpha1.MCPAuditPolicy:
		after := before.DeepCopy()
		after.Status.Gate = runs
		conditions.SetReady(&after.Status.Conditions, after.Generation, ready, now)
		after.Status.ObservedGeneration = after.Generation
		return r.write(ctx, before, after)
	case *v1alpha1.ClusterMCPAuditPolicy:
		after := before.DeepCopy()
		after.Status.Gate = runs
		conditions.Report(after, v1alpha1.ConditionGated, ready, now)
		return r.write(ctx, before, after)
	}
	return nil
}

// retire removes the gate's part from a policy without a gate.
func (r *Reconciler) retire(ctx context.Context, before *v1alpha1.ClusterMCPAuditPolicy) error {
	if before.Spec.Gate != nil || before.Status.Gate == nil && meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionGated) == nil {
		return nil
	}
	after := before.DeepCopy()
	after.Status.Gate = nil
	conditions.Report(after, v1alpha1.ConditionGated, conditions.True(v1alpha1.ReasonNothingToDo, ""), r.Clock.Now())
	return r.write(ctx, before, after)
}

// write writes the status; after must not differ otherwise.
func (r *Reconciler) write(ctx context.Context, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status of %s: %w", client.ObjectKeyFromObject(before), err)
	}
	return nil
}

func gateOf(policy client.Object) *v1alpha1.GateStatus {
	switch p := policy.(type) {
	case *v1alpha1.MCPAuditPolicy:
		return p.Status.Gate
	case *v1alpha1.ClusterMCPAuditPolicy:
		return p.Status.Gate
	}
	return nil
}
