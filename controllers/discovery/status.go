package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

func (r *Reconciler) report(ctx context.Context, o *policyOutcome, sources map[v1alpha1.DiscoverySource]sourceState) error {
	policy := o.Policy.DeepCopy()
	if reading(o, sources) && policy.Status.ObservedGeneration == policy.Generation {
		return nil // a restart changes nothing
	}
	o.write(policy, sources, r.Clock.Now())
	if equality.Semantic.DeepEqual(o.Policy.Status, policy.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(o.Policy, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, policy, patch); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write status of %s: %w", policy.Name, err)
	}
	return nil
}

// reading reports whether a source of the policy is being read for the first time, without
// errors.
func reading(o *policyOutcome, sources map[v1alpha1.DiscoverySource]sourceState) bool {
	return o.Policy.Spec.Discovery != nil && slices.ContainsFunc(sourcesOf(o.Policy.Spec.Discovery), func(s v1alpha1.DiscoverySource) bool {
		return sources[s].State == v1alpha1.SourcePending && sources[s].Message == ""
	})
}

// discovered counts the servers of all sources.
func (o *policyOutcome) discovered() int32 {
	var sum int32
	for _, n := range o.Discovered {
		sum += n
	}
	return sum
}

// write sets this controller's part of the status. The gate's part belongs to
// controllers/drift.
func (o *policyOutcome) write(policy *v1alpha1.ClusterMCPAuditPolicy, sources map[v1alpha1.DiscoverySource]sourceState, now time.Time) {
	if o.Invalid == nil {
		policy.Status.Discovery = o.discovery(sources)
	}
	conditions.Report(policy, v1alpha1.ConditionDiscovered, o.found(sources), now)
}

// found returns the condition Discovered: False if only a spec change helps, Unknown while in
// progress. It is unused without spec.discovery.
func (o *policyOutcome) found(sources map[v1alpha1.DiscoverySource]sourceState) conditions.Condition {
	if o.Invalid != nil {
		return conditions.False(v1alpha1.ReasonInvalidSpec, fmt.Sprintf("The spec cannot be followed; the audits stay as they are. Correct %s.", o.Invalid))
	}
	if o.Policy.Spec.Discovery == nil {
		return conditions.True(v1alpha1.ReasonNothingToDo, "There is no spec.discovery: nothing is looked for.")
	}
	for _, source := range v1alpha1.DiscoverySources {
		if state := sources[source]; slices.Contains(sourcesOf(o.Policy.Spec.Discovery), source) && state.State == v1alpha1.SourcePending {
			return conditions.Unknown(v1alpha1.ReasonSourcesPending,
				fmt.Sprintf("The source %s is not read yet; its audits stay as they are. %s", source, state.Message))
		}
	}
	if o.Waiting > 0 {
		message := fmt.Sprintf("Audits that cannot be written yet, and are tried again: %d.", o.Waiting)
		if o.Problem != nil {
			message += " The first of them: " + o.Problem.Error()
		}
		return conditions.Unknown(v1alpha1.ReasonAuditsPending, message)
	}
	message := fmt.Sprintf("Servers found: %d; each has an audit.", o.discovered())
	if len(o.Skipped) > 0 {
		message = fmt.Sprintf("Servers found: %d; audited: %d; skipped: %d, for the reasons in status.discovery.skippedServers.",
			o.discovered(), o.Audited, len(o.Skipped))
	}
	return conditions.True(v1alpha1.ReasonDiscovered, message)
}

func (o *policyOutcome) discovery(sources map[v1alpha1.DiscoverySource]sourceState) *v1alpha1.DiscoveryStatus {
	discovery := o.Policy.Spec.Discovery
	if discovery == nil {
		return nil
	}
	status := &v1alpha1.DiscoveryStatus{Discovered: o.discovered(), Audited: o.Audited, Skipped: int32(len(o.Skipped))}
	for _, source := range v1alpha1.DiscoverySources {
		if slices.Contains(sourcesOf(discovery), source) {
			state := sources[source]
			status.Sources = append(status.Sources, v1alpha1.DiscoverySourceStatus{
				Name: source, State: state.State, Message: state.Message, Discovered: o.Discovered[source],
			})
		}
	}
	skipped := slices.SortedFunc(slices.Values(o.Skipped), func(a, b v1alpha1.SkippedServer) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	if len(skipped) > 0 {
		status.SkippedServers = skipped[:min(len(skipped), v1alpha1.MaxSkipped)]
	}
	return status
}
