package drift

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// What the controller does with the API, for the roles in config/rbac.
//
// Policies are read, and given a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies;clustermcpauditpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies/status;clustermcpauditpolicies/status,verbs=patch
//
// The Pods of the namespaces with the label mcpaudit.dev/gate=enabled are held against
// the policies. Which namespaces have it is known at run time only; a role cannot say so.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
//
// The labels of namespaces say which are in the gate. Only their metadata is read.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch

// coalesce is how long a change waits for others: a rollout is a few passes, and a policy
// has its status written once in that time at most.
const coalesce = 2 * time.Second

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	wake := sweep.After(coalesce)
	spec := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(manager).
		Named("drift").
		Watches(&v1alpha1.MCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, wake, spec).
		WatchesMetadata(&corev1.Namespace{}, wake, builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesRawSource(sweep.Begin(coalesce, r.start)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("register controller: %w", err)
	}
	return nil
}
