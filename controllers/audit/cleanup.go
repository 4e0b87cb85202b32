package audit

import (
	"cmp"
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
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// tidy announces the verdict if that is still due, and then deletes finished Pods, copied
// Secrets and old reports. It runs after the write of the status; what fails is left for
// the next reconciliation.
func (r *Reconciler) tidy(ctx context.Context, s *session) error {
	if err := r.announce(ctx, s); err != nil {
		return err
	}
	var problems []error
	if s.decided {
		if s.pod != nil {
			s.finishedPods = append(s.finishedPods, s.pod)
			r.announced.Store(s.pod.UID, true)
		}
		if s.run.Previous != "" { // else the report is the first
			problems = append(problems, r.prune(ctx, s.audit))
		}
	}
	if err := r.deleteSecrets(ctx, s); err != nil {
		return errors.Join(append(problems, err)...) // the Pod reminds of them
	}
	for _, pod := range s.finishedPods {
		problems = append(problems, r.deletePod(ctx, pod))
	}
	return errors.Join(problems...)
}

func (r *Reconciler) deletePod(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp.IsZero() {
		err := client.IgnoreNotFound(r.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}))
		if err != nil {
			return fmt.Errorf("delete audit pod: %w", err)
		}
	}
	r.announced.Delete(pod.UID)
	return nil
}

// deleteAll deletes all of a kind that an audit has in the run namespace, if that
// is still there.
func (r *Reconciler) deleteAll(ctx context.Context, kind client.Object, audit *v1alpha1.MCPServerAudit) error {
	err := client.IgnoreNotFound(r.Client.DeleteAllOf(ctx, kind, client.InNamespace(r.Options.RunNamespace), ofAudit(audit)))
	if apierrors.IsForbidden(err) && r.runNamespace(ctx) != namespaceThere {
		return nil
	}
	return wrap("delete from run namespace", err)
}

// cleanUp is the finalizer: what no owner reference reaches is deleted. Pods
// that take their time to end are on their way out and need no waiting for.
func (r *Reconciler) cleanUp(ctx context.Context, audit *v1alpha1.MCPServerAudit) error {
	if !controllerutil.ContainsFinalizer(audit, v1alpha1.Finalizer) {
		return nil
	}
	for _, kind := range []client.Object{&corev1.Pod{}, &corev1.Secret{}} {
		if err := r.deleteAll(ctx, kind, audit); err != nil {
			return err
		}
	}
	r.unwritable.Delete(audit.UID)
	before := audit.DeepCopy()
	controllerutil.RemoveFinalizer(audit, v1alpha1.Finalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return wrap("remove finalizer", client.IgnoreNotFound(r.Client.Patch(ctx, audit, patch)))
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
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
