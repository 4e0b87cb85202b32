package exception

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// RBAC of the controller.
//
// Exceptions and their policies are read; exceptions get a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditexceptions;mcpauditpolicies;clustermcpauditpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditexceptions/status,verbs=patch

// staleAfter is the retry interval after a write from a stale cache.
const staleAfter = 200 * time.Millisecond

// policyIndex indexes exceptions by policy.
const policyIndex = "spec.policyRef"

// Reconciler reconciles MCPAuditExceptions.
type Reconciler struct {
	Client client.Client
	Events events.EventRecorder
	// Clock is replaced in tests.
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	err := manager.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.MCPAuditException{}, policyIndex, func(o client.Object) []string {
		if e, ok := o.(*v1alpha1.MCPAuditException); ok {
			return []string{policyKey(e.Spec.PolicyRef)}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index exceptions: %w", err)
	}
	spec := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.MCPAuditException{}, spec).
		Watches(&v1alpha1.MCPAuditPolicy{}, r.exceptionsOf(gate.KindPolicy), spec).
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, r.exceptionsOf(gate.KindClusterPolicy), spec).
		Complete(r)
}

func policyKey(p v1alpha1.PolicyReference) string { return p.Kind + "/" + p.Name }

func (r *Reconciler) exceptionsOf(kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, policy client.Object) []reconcile.Request {
		var list v1alpha1.MCPAuditExceptionList
		key := policyKey(v1alpha1.PolicyReference{Kind: kind, Name: policy.GetName()})
		if err := r.Client.List(ctx, &list, client.InNamespace(policy.GetNamespace()), client.MatchingFields{policyIndex: key}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not list the exceptions of a policy", "policy", key)
			return nil
		}
		requests := make([]reconcile.Request, len(list.Items))
		for i := range list.Items {
			requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
		}
		return requests
	})
}

// Reconcile updates the status of one exception, and requeues for its end.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	e := &v1alpha1.MCPAuditException{}
	if err := r.Client.Get(ctx, request.NamespacedName, e); err != nil || !e.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	policy, err := r.policy(ctx, e)
	if err != nil {
		return ctrl.Result{}, err
	}
	_, invalid := gate.ReadException(e)
	now, before := r.Clock.Now(), e.DeepCopy()
	active, ready := judge(e, invalid, policy, now)
	conditions.SetOf(&e.Status.Conditions, e.Generation, v1alpha1.ConditionActive, active, now)
	conditions.SetReady(&e.Status.Conditions, e.Generation, ready, now)
	e.Status.ObservedGeneration = e.Generation
	if !equality.Semantic.DeepEqual(before.Status, e.Status) {
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, e, patch); err != nil {
			if apierrors.IsConflict(err) {
				return ctrl.Result{RequeueAfter: staleAfter}, nil
			}
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if active.Reason == v1alpha1.ReasonExpired && reason(before) != v1alpha1.ReasonExpired {
			r.Events.Eventf(e, nil, corev1.EventTypeNormal, v1alpha1.ReasonExpired, "Expire", "%s", active.Message)
		}
	}
	return ctrl.Result{RequeueAfter: max(0, e.Spec.ExpiresAt.Sub(now))}, nil // 0 never requeues
}

func reason(e *v1alpha1.MCPAuditException) string {
	if c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionActive); c != nil {
		return c.Reason
	}
	return ""
}

// policy reads the policy of an exception.
func (r *Reconciler) policy(ctx context.Context, e *v1alpha1.MCPAuditException) (target, error) {
	key := client.ObjectKey{Name: e.Spec.PolicyRef.Name}
	var trust *v1alpha1.Trust
	found := true // a namespaced policy always has a gate
	var err error
	if e.Spec.PolicyRef.Kind == gate.KindClusterPolicy {
		var policy v1alpha1.ClusterMCPAuditPolicy
		err = r.Client.Get(ctx, key, &policy)
		found, trust = policy.Spec.Gate != nil, policy.Spec.Trust
	} else {
		key.Namespace = e.Namespace
		var policy v1alpha1.MCPAuditPolicy
		err = r.Client.Get(ctx, key, &policy)
		trust = policy.Spec.Trust
	}
	switch {
	case apierrors.IsNotFound(err):
		return target{}, nil
	case err != nil:
		return target{}, fmt.Errorf("get policy %s: %w", policyKey(e.Spec.PolicyRef), err)
	}
	return target{found: found, ignores: trust != nil && trust.IgnoreExceptions}, nil
}
