package audit

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// What the reconciler does with the API, for the roles in config/rbac.
//
// Audits are read, marked with the finalizer, and given a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits/status,verbs=patch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits/finalizers,verbs=update
//
// Reports are stored, read for the baseline, and pruned. They are never changed.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditreports,verbs=get;list;create;delete
//
// Pull secrets are read by the name that a spec gives, and only where a
// RoleBinding of their namespace to mcpaudit-pull-secret-reader allows it: the
// manager itself may read no secret outside of the run namespace.
//
// The run namespace is looked at when it refuses everything: to know whether it
// is gone, and the finalizers have nothing to wait for.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get,resourceNames=mcpaudit-runs
//
// Nodes are listed, every few minutes while audits are made, to know whether all of
// them have user namespaces (userNamespaces: Auto). Without this right none has.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list
//
// A RuntimeClass is read to know which of a node's runtime handlers it stands for
// (userNamespaces: Auto).
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get
//
// Events are about audits in any namespace.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
//
// In the run namespace: the audit Pods and their logs.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete;deletecollection,namespace=mcpaudit-runs
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get,namespace=mcpaudit-runs
//
// In the run namespace: copies of pull secrets, created and never changed, deleted
// by label, and listed by their metadata to know them again and to find leftovers.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;create;delete;deletecollection,namespace=mcpaudit-runs

// SetupWithManager registers the controller and its sweep.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(manager).
		Named("mcpserveraudit").
		For(&v1alpha1.MCPServerAudit{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, requestChanged()))).
		Watches(&corev1.Pod{}, hurryAudits()).
		WatchesRawSource(source.Func(r.wakeBy)).
		WatchesRawSource(source.Kind(manager.GetCache(), &corev1.Pod{}, r.podHandler())).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Options.Concurrency}).
		Complete(r.Watchdog.Watch(r))
	if err != nil {
		return fmt.Errorf("register controller: %w", err)
	}
	return errors.Join(manager.Add(&sweeper{r}), manager.Add(&slotSweeper{Reconciler: r}))
}

// requestChanged lets through what GenerationChangedPredicate does not see.
func requestChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return trigger.Requested(e.ObjectOld.GetAnnotations()) != trigger.Requested(e.ObjectNew.GetAnnotations())
	}}
}
