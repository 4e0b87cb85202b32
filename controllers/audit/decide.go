package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/result"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// observe finds the Pod of the audit in progress.
func (r *Reconciler) observe(ctx context.Context, s *session) (outcome, error) {
	var err error
	if s.specDigest, err = trigger.DigestOf(s.audit); err != nil {
		return proceed, err
	}
	s.requested = trigger.Requested(s.audit.Annotations)
	s.respecified = s.audit.Generation > 1 && s.audit.Generation != s.audit.Status.ObservedGeneration
	s.schedule, s.halted = r.permit(s.audit.Spec)
	return proceed, r.observeFrom(ctx, s, r.Client)
}

// observeFrom separates the Pod of the audit in progress from finished ones: decided, for
// another spec, or unreadable.
func (r *Reconciler) observeFrom(ctx context.Context, s *session, reader client.Reader) error {
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(r.Options.RunNamespace), ofAudit(s.audit)); err != nil {
		return fmt.Errorf("list audit pods: %w", err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	s.pod, s.finishedPods = nil, nil
	for i := range pods.Items {
		pod := &pods.Items[i]
		run, err := podspec.ReadRun(pod)
		if err == nil && s.pod == nil && s.isAudited(run) && isCurrent(s.audit, pod, run) {
			s.pod, s.run = pod, run
			continue
		}
		s.finishedPods = append(s.finishedPods, pod)
	}
	return nil
}

// isAudited reports whether a run is for the current spec. The same generation is enough, even
// if this operator version reads more of it.
func (s *session) isAudited(run podspec.Run) bool {
	return run.SpecDigest == s.specDigest || run.Generation == s.audit.Generation
}

// isCurrent reports whether a run follows the one in the status and is not terminating because
// of an earlier spec change.
func isCurrent(audit *v1alpha1.MCPServerAudit, pod *corev1.Pod, run podspec.Run) bool {
	return run.Previous == podspec.Previous(audit) && (pod.DeletionTimestamp.IsZero() || run.Generation == audit.Generation)
}

// decide determines whether an audit is due. One in progress is finished first; a request made
// meanwhile triggers the next one.
func (r *Reconciler) decide(ctx context.Context, s *session) (outcome, error) {
	if s.halted != nil {
		s.halt(s.halted)
		return rest, nil
	}
	due, isDue := r.due(ctx, s)
	if !isDue || s.audit.Spec.Suspend {
		if isDue {
			s.hold()
			s.stop()
		} else {
			s.idle()
		}
		s.resting = true
		r.plan(s)
		return rest, nil
	}
	s.run = podspec.Run{
		Name: podspec.Name(s.audit, s.requested), Previous: podspec.Previous(s.audit), Audit: client.ObjectKeyFromObject(s.audit),
		Generation: s.audit.Generation, SpecDigest: s.specDigest, Requested: s.requested,
		Reason: due.Reason, Message: due.Message, Audited: specified(s.audit.Spec),
	}
	if conditions.Find(s.audit, v1alpha1.ConditionAuditing) == nil {
		s.progress(v1alpha1.ReasonPending, "The audit begins: "+due.Message+".")
	}
	return proceed, nil
}

// due asks the registry about the tag only if no other reason resolves the image anyway.
func (r *Reconciler) due(ctx context.Context, s *session) (trigger.Trigger, bool) {
	in := r.triggers(s)
	if due, isDue := trigger.Due(in); isDue {
		return due, true
	}
	r.checkTag(ctx, s)
	in.TagDigest = r.tags.digest(s.audit)
	return trigger.Due(in)
}

// triggers returns the input of package trigger.
func (r *Reconciler) triggers(s *session) trigger.Input {
	spec, status := s.audit.Spec, s.audit.Status
	return trigger.Input{
		UID: s.audit.UID, Created: s.audit.CreationTimestamp.Time, Now: s.now, Suspended: spec.Suspend,
		Generation: s.audit.Generation, SpecDigest: s.specDigest, Baseline: trigger.Baseline(spec.Baseline),
		Requested: s.requested, Handled: status.LastHandledReconcileAt,
		Untils: untils(spec.Suppressions), Schedule: s.schedule,
		Last: status.Trigger, Audited: ptr.Deref(status.LastAuditTime, metav1.Time{}).Time,
		Held: s.hidden(), Failure: failure(s.audit), TagDigest: r.tags.digest(s.audit), Unresolved: isUnresolved(s.audit),
		RulesetDigest: r.Options.RulesetDigest, MaxVerdictAge: r.Options.MaxVerdictAge,
	}
}

// untils returns the ends of suppressions in whole seconds, like status times: an audit within
// the same second would otherwise seem older.
func untils(suppressions []report.Suppression) []time.Time {
	var all []time.Time
	for _, s := range suppressions {
		all = append(all, s.Until.Add(time.Second-1).Truncate(time.Second))
	}
	return all
}

func failure(audit *v1alpha1.MCPServerAudit) trigger.Failure {
	if audit.Status.Verdict != v1alpha1.VerdictInconclusive {
		return trigger.Failure{}
	}
	return trigger.Failure{
		Reason: report.Reason(conditions.Reason(audit, v1alpha1.ConditionAudited)), Reported: audit.Status.Runner != nil,
		OverLimit:   result.OverLimit(message(audit, v1alpha1.ConditionAudited)),
		Consecutive: audit.Status.ConsecutiveFailures, Limit: ptr.Deref(audit.Spec.RetryLimit, defaultRetryLimit),
	}
}

// defaultRetryLimit repeats the default of the CRD.
const defaultRetryLimit = 3
