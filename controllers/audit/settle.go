package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// maxNote is the most characters of an event's note that events.k8s.io accepts.
const maxNote = 1024

// settle does what may only be done once the status is written: what it
// announces is then true, and what it deletes is no longer needed. A failure
// leaves things for the next reconciliation, or for the next decision.
func (r *Reconciler) settle(ctx context.Context, s *session) error {
	for _, n := range s.notes {
		r.Events.Eventf(s.audit, nil, n.kind, n.reason, "Audit", "%s", excerpt.Line(n.message, maxNote))
	}
	var problems []error
	if s.decided {
		if s.pod != nil {
			s.spent = append(s.spent, s.pod)
			r.Metrics.Decided(string(s.outcome.Verdict), string(s.outcome.Reason), string(s.run.Reason), s.age(s.pod.CreationTimestamp.Time))
		} else {
			r.Metrics.Decided(string(s.outcome.Verdict), string(s.outcome.Reason), string(s.run.Reason), 0)
		}
		problems = append(problems, r.prune(ctx, s.audit))
	}
	problems = append(problems, r.deleteSecrets(ctx, s))
	for _, pod := range s.spent {
		if pod.DeletionTimestamp.IsZero() {
			err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
			problems = append(problems, wrap("delete audit pod", client.IgnoreNotFound(err)))
		}
	}
	return errors.Join(problems...)
}

// deleteSecrets deletes the copied pull secrets of an audit that is decided, or
// that is at rest: the manager may have been stopped between the two, or the
// audit suspended while it waited for its Pod. A change of the spec that drops
// the pull secrets always leads to a decision.
func (r *Reconciler) deleteSecrets(ctx context.Context, s *session) error {
	if !s.decided && (!s.resting || len(s.audit.Spec.Server.ImagePullSecrets) == 0) {
		return nil
	}
	return r.deleteAll(ctx, &corev1.Secret{}, s.audit)
}

// deleteAll deletes all of a kind that an audit has in the run namespace.
func (r *Reconciler) deleteAll(ctx context.Context, kind client.Object, audit *v1alpha1.MCPServerAudit) error {
	return wrap("delete from run namespace", r.Client.DeleteAllOf(ctx, kind, client.InNamespace(r.Options.RunNamespace),
		client.MatchingLabels{podspec.LabelManagedBy: podspec.ManagedBy, podspec.LabelUID: string(audit.UID)}))
}

// cleanUp is the finalizer: what no owner reference reaches is deleted. Pods
// that take their time to end are on their way out and need no waiting for.
func (r *Reconciler) cleanUp(ctx context.Context, audit *v1alpha1.MCPServerAudit) error {
	if !controllerutil.ContainsFinalizer(audit, v1alpha1.Finalizer) {
		return nil
	}
	for _, kind := range []client.Object{&corev1.Pod{}, &corev1.Secret{}} {
		err := client.IgnoreNotFound(r.deleteAll(ctx, kind, audit))
		if apierrors.IsForbidden(err) && r.runNamespaceGone(ctx) {
			break
		}
		if err != nil {
			return err
		}
	}
	before := audit.DeepCopy()
	controllerutil.RemoveFinalizer(audit, v1alpha1.Finalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return wrap("remove finalizer", client.IgnoreNotFound(r.Client.Patch(ctx, audit, patch)))
}

// runNamespaceGone tells whether the run namespace does not exist, or is on its
// way out with all that is in it. The manager's role there goes with it, so that
// the API server answers Forbidden and not NotFound.
func (r *Reconciler) runNamespaceGone(ctx context.Context) bool {
	var namespace metav1.PartialObjectMetadata
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := r.Live.Get(ctx, client.ObjectKey{Name: r.Options.RunNamespace}, &namespace)
	return apierrors.IsNotFound(err) || err == nil && !namespace.DeletionTimestamp.IsZero()
}

// prune deletes the reports beyond the history limit. The latest is kept in any
// case, and so is the one that stands for the baseline: without it, the next drift
// could not be named.
func (r *Reconciler) prune(ctx context.Context, audit *v1alpha1.MCPServerAudit) error {
	reports, err := r.reports(ctx, audit)
	if err != nil {
		return err
	}
	keep := 1 + int(ptr.Deref(audit.Spec.HistoryLimit, 0))
	baseline := -1
	if audit.Status.BaselineDigest != "" {
		baseline = baselineOf(reports, audit.Status.BaselineDigest)
	}
	var problems []error
	for i, stored := range reports {
		if i < keep || i == baseline {
			continue
		}
		problems = append(problems, wrap("prune reports", client.IgnoreNotFound(r.Client.Delete(ctx, &stored))))
	}
	return errors.Join(problems...)
}

// reports lists the reports of an audit by their metadata, latest first: the one
// that the status names, then by age, which has seconds only.
func (r *Reconciler) reports(ctx context.Context, audit *v1alpha1.MCPServerAudit) ([]metav1.PartialObjectMetadata, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MCPAuditReportList"))
	if err := r.Live.List(ctx, &list, client.InNamespace(audit.Namespace), client.MatchingLabels{podspec.LabelUID: string(audit.UID)}); err != nil {
		return nil, fmt.Errorf("list reports: %w", err)
	}
	latest := ptr.Deref(audit.Status.ReportRef, v1alpha1.ReportReference{}).Name
	slices.SortFunc(list.Items, func(a, b metav1.PartialObjectMetadata) int {
		switch {
		case a.Name == latest:
			return -1
		case b.Name == latest:
			return 1
		}
		if c := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list.Items, nil
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
