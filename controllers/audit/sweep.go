package audit

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// sweeper deletes what belongs to deleted audits, when the leader starts and when slotSweeper
// finds an orphaned Pod: a finalizer may have been removed by hand, or the cluster restored
// without its audits.
type sweeper struct{ *Reconciler }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *sweeper) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. Failures are only logged: leftovers just take space.
func (s *sweeper) Start(ctx context.Context) error {
	if err := s.sweep(ctx); err != nil {
		log.FromContext(ctx).Error(err, "Swept the run namespace in part", "namespace", s.Options.RunNamespace)
	}
	return nil
}

func (s *sweeper) sweep(ctx context.Context) error {
	var found []metav1.PartialObjectMetadata
	var problems []error
	for _, kind := range []string{"Pod", "Secret"} {
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := s.Live.List(ctx, &list, client.InNamespace(s.Options.RunNamespace), client.MatchingLabels{podspec.LabelManagedBy: podspec.ManagedBy}); err != nil {
			problems = append(problems, fmt.Errorf("list %ss: %w", kind, err))
		}
		found = append(found, list.Items...)
	}
	if len(found) == 0 {
		return errors.Join(problems...)
	}
	// The audits are listed last, so every object found belonged to an earlier one.
	alive, err := s.alive(ctx)
	if err != nil {
		return errors.Join(append(problems, err)...)
	}
	for i := range found {
		item := &found[i]
		uid := types.UID(item.Labels[podspec.LabelUID])
		if uid == "" || alive[uid] || !item.DeletionTimestamp.IsZero() {
			continue
		}
		if err := s.Client.Delete(ctx, item, client.Preconditions{UID: &item.UID}); err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("delete %s %s: %w", item.Kind, item.Name, err))
			continue
		}
		log.FromContext(ctx).Info("Deleted what an audit left", "kind", item.Kind, "name", item.Name, "auditUID", uid)
	}
	return errors.Join(problems...)
}

// alivePage is the page size: an audit's metadata may have 300 KiB.
const alivePage = 50

// alive returns the UIDs of existing audits with a live read.
func (s *sweeper) alive(ctx context.Context) (map[types.UID]bool, error) {
	alive := map[types.UID]bool{}
	for page := client.Continue(""); ; {
		var audits metav1.PartialObjectMetadataList
		audits.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MCPServerAuditList"))
		if err := s.Live.List(ctx, &audits, client.Limit(alivePage), page); err != nil {
			return nil, fmt.Errorf("list audits: %w", err)
		}
		for _, audit := range audits.Items {
			alive[audit.UID] = true
		}
		if page = client.Continue(audits.Continue); page == "" {
			return alive, nil
		}
	}
}
