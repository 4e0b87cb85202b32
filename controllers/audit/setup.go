package audit

import (
	"errors"

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

// RBAC of the reconciler.
//
// Audits are read, marked with the finalizer, and given a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits/status,verbs=patch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits/finalizers,verbs=update
//
// Reports are stored, read for the baseline, and pruned. They are never changed.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditreports,verbs=get;list;create;delete
//
// Pull secrets are read by name, and only where a RoleBinding to mcpaudit-pull-secret-reader in
// their namespace allows it: outside the run namespace the manager may read no secret by
// itself.
//
// The run namespace is read when it refuses everything, to learn whether it is gone and
// finalizers need not wait.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get,resourceNames=mcpaudit-runs
//
// Nodes are listed every few minutes during audits, to learn whether all support user
// namespaces (userNamespaces: Auto). Without this permission, none is used.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list
//
// A RuntimeClass maps to a node's runtime handler (userNamespaces: Auto).
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get
//
// Events are about audits in any namespace.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
//
// In the run namespace: the audit Pods and their logs.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete;deletecollection,namespace=mcpaudit-runs
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get,namespace=mcpaudit-runs
//
// In the run namespace: copies of pull secrets, created and never changed, deleted by label,
// and listed by metadata to recognise them and find leftovers.
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
	return errors.Join(err, manager.Add(&sweeper{r}), manager.Add(&slotSweeper{Reconciler: r}))
}

// requestChanged passes the changes that GenerationChangedPredicate ignores.
func requestChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return trigger.Requested(e.ObjectOld.GetAnnotations()) != trigger.Requested(e.ObjectNew.GetAnnotations())
	}}
}
