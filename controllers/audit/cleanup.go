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

// tidy announces a pending verdict, then deletes finished Pods, copied Secrets and old reports.
// It runs after the status write; failures are retried by the next reconciliation.
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
		if s.run.Previous != "" { // else this is the first report
			problems = append(problems, r.prune(ctx, s.audit))
		}
	}
	if err := r.deleteSecrets(ctx, s); err != nil {
		return errors.Join(append(problems, err)...) // while the Pod exists, they are retried
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

// deleteAll deletes all objects of a kind that belong to an audit from the run namespace, if
// that still exists.
func (r *Reconciler) deleteAll(ctx context.Context, kind client.Object, audit *v1alpha1.MCPServerAudit) error {
	err := client.IgnoreNotFound(r.Client.DeleteAllOf(ctx, kind, client.InNamespace(r.Options.RunNamespace), ofAudit(audit)))
	if apierrors.IsForbidden(err) && r.runNamespace(ctx) != namespaceThere {
		return nil
	}
	return wrap("delete from run namespace", err)
}

// cleanUp is the finalizer: it deletes what owner references do not reach. It does not wait for
// terminating Pods.
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

// prune deletes reports beyond the history limit. It always keeps the latest, and the one of
// the baseline, which the next drift is compared with.
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

// reports lists the metadata of an audit's reports, latest first: the one named in the status,
// then by age, which has a resolution of seconds.
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
