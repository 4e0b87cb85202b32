package policyreport

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// fieldManager owns the fields written here; others may add their own.
const fieldManager = "mcpaudit-manager"

// Reconciler maintains the reports.
type Reconciler struct {
	// Client reads audits from the cache.
	Client client.Client
	// Never means that existing reports are deleted.
	Never bool

	objects dynamic.Interface
	watches *watches
}

// Reconcile updates the report of one audit from its status, in the preferred kind that is
// served only.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	audit := &v1alpha1.MCPServerAudit{}
	if err := r.Client.Get(ctx, request.NamespacedName, audit); err != nil || !audit.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	states, ok := r.watches.states()
	if !ok {
		return ctrl.Result{}, nil // a watch wakes the controller
	}
	for i, s := range states {
		var want *unstructured.Unstructured
		if i == 0 && !r.Never {
			var err error
			if want, err = s.build(audit); err != nil {
				return ctrl.Result{}, reconcile.TerminalError(err)
			}
		}
		if err := r.put(ctx, s, audit, want); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

// put makes the report of an audit as wanted; nil deletes it.
func (r *Reconciler) put(ctx context.Context, s state, audit *v1alpha1.MCPServerAudit, want *unstructured.Unstructured) error {
	reports, name := r.objects.Resource(s.resource).Namespace(audit.Namespace), nameOf(audit.Name)
	have := s.have(audit.Namespace, name)
	var err error
	switch {
	case want == nil && have == nil, want != nil && have != nil && have.Annotations[mark] == digest(want):
		return nil
	case want == nil:
		err = reports.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &have.UID}})
	default:
		// Force reverts changes by others. A report unknown to the watch may be somebody else's
		// and is not taken over.
		_, err = reports.Apply(ctx, name, want, metav1.ApplyOptions{FieldManager: fieldManager, Force: have != nil})
	}
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // not found: the kind or the report is gone, as a watch will tell
	case want == nil && apierrors.IsConflict(err):
		return nil // replaced meanwhile, as a watch will tell
	case apierrors.IsConflict(err):
		return reconcile.TerminalError(fmt.Errorf("write %s: %s in namespace %s is somebody else's: rename or delete it: %w", s.crd(), name, audit.Namespace, err))
	}
	return fmt.Errorf("write %s %s: %w", s.crd(), name, err)
}
