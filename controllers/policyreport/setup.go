package policyreport

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// RBAC of the controller.
//
// Reports are watched, written by server-side apply (patch, and create for new ones), and
// deleted when the other kind becomes preferred.
// +kubebuilder:rbac:groups=wgpolicyk8s.io,resources=policyreports,verbs=list;watch;create;patch;delete,roleName=mcpaudit-policy-reports
// +kubebuilder:rbac:groups=openreports.io,resources=reports,verbs=list;watch;create;patch;delete,roleName=mcpaudit-policy-reports
//
// Audits are read; the reports repeat their status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits,verbs=get;list;watch,roleName=mcpaudit-policy-reports
//
// The CRDs are watched by name, to learn which kinds exist.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch,resourceNames=policyreports.wgpolicyk8s.io;reports.openreports.io,roleName=mcpaudit-policy-reports

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	objects, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	r.objects, r.watches = objects, &watches{objects: objects}
	return ctrl.NewControllerManagedBy(manager).
		Named("policyreport").
		For(&v1alpha1.MCPServerAudit{}, builder.WithPredicates(r.changesReport())).
		WatchesRawSource(source.Func(r.start)).
		Complete(r)
}

// start lets the watches wake the controller.
func (r *Reconciler) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.watches.changed = func(audit types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: audit}) }
	r.watches.wake = func() {
		var list v1alpha1.MCPServerAuditList
		if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not list the audits for their policy reports")
			return
		}
		for i := range list.Items {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return r.watches.start(ctx)
}

// changesReport passes changes that affect a report, and none while no kind is served: when one
// is, all audits are enqueued.
func (r *Reconciler) changesReport() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return r.watches.any() },
		DeleteFunc: func(event.DeleteEvent) bool { return false }, // the report has an owner reference
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*v1alpha1.MCPServerAudit)
			after, still := e.ObjectNew.(*v1alpha1.MCPServerAudit)
			return r.watches.any() && ok && still && !same(before, after)
		},
	}
}

// same reports whether two states of an audit give the same report.
func same(before, after *v1alpha1.MCPServerAudit) bool {
	was, err := kinds[0].build(before)
	is, failed := kinds[0].build(after)
	if err != nil || failed != nil || (was == nil) != (is == nil) {
		return false
	}
	return was == nil || digest(was) == digest(is)
}
