package discovery

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// Disabled replaces Reconciler where the configuration disables discovery. It only reports that
// in the status of policies that use discovery, which would otherwise never become Ready.
type Disabled struct {
	Client client.Client
	Clock  clock.PassiveClock
}

// SetupWithManager registers the controller.
func (d *Disabled) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("clustermcpauditpolicy").
		For(&v1alpha1.ClusterMCPAuditPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(d)
}

// Reconcile writes the discovery part of one policy's status.
func (d *Disabled) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	before := &v1alpha1.ClusterMCPAuditPolicy{}
	if err := d.Client.Get(ctx, request.NamespacedName, before); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	after := before.DeepCopy()
	after.Status.Discovery = nil
	conditions.Report(after, v1alpha1.ConditionDiscovered, conditions.False(v1alpha1.ReasonDiscoveryDisabled,
		"Nothing is discovered: set discovery to Auto in the operator's configuration, or remove spec.discovery."), d.Clock.Now())
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return ctrl.Result{}, nil
	}
	err := d.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) { // the gate's part of the status is newer than the cache
		return ctrl.Result{RequeueAfter: settle}, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("write status of %s: %w", before.Name, err)
	}
	return ctrl.Result{}, nil
}
