package drift

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// RBAC of the controller.
//
// Policies are read, and given a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies;clustermcpauditpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies/status;clustermcpauditpolicies/status,verbs=patch
//
// The Pods of namespaces with the label mcpaudit.dev/gate=enabled are checked. RBAC cannot
// select namespaces by label.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
//
// Namespace labels say which namespaces are in the gate. Only metadata is read.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch

// coalesce is the delay that batches changes: a rollout takes a few passes, and a policy's
// status is written at most once per delay.
const coalesce = 2 * time.Second

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	wake := sweep.After(coalesce)
	spec := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("drift").
		Watches(&v1alpha1.MCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, wake, spec).
		WatchesMetadata(&corev1.Namespace{}, wake, builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesRawSource(sweep.Begin(coalesce, r.start)).
		Complete(r)
}
