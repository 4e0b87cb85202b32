package discovery

import (
	"context"
	"fmt"
	"maps"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// RBAC of the controller.
//
// Policies are read, and given a status.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=clustermcpauditpolicies,verbs=get;list;watch,roleName=mcpaudit-discovery
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=clustermcpauditpolicies/status,verbs=patch,roleName=mcpaudit-discovery
//
// An audit is applied (create, patch) for each server found, read before that, and deleted when
// its server is gone.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits,verbs=get;list;watch;create;patch;delete,roleName=mcpaudit-discovery
//
// The kinds in which servers are found. Workloads are listed by the label mcpaudit.dev/server,
// which RBAC cannot express.
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets,verbs=list;watch,roleName=mcpaudit-discovery
// +kubebuilder:rbac:groups=toolhive.stacklok.dev;kagent.dev;mcp.x-k8s.io,resources=mcpservers,verbs=list;watch,roleName=mcpaudit-discovery
//
// Policies select namespaces by label. Only metadata is read.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch,roleName=mcpaudit-discovery
//
// CRDs show which kinds exist: their metadata is watched, and three are read.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch,roleName=mcpaudit-discovery
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get,resourceNames=mcpservers.toolhive.stacklok.dev;mcpservers.kagent.dev;mcpservers.mcp.x-k8s.io,roleName=mcpaudit-discovery

// settle is the delay that batches changes into one pass.
const settle = 200 * time.Millisecond

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	objects, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	only, err := metadata.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	r.watches = &watches{objects: objects, metadata: only}
	pass := sweep.After(0)
	return ctrl.NewControllerManagedBy(manager).
		Named("clustermcpauditpolicy").
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, pass, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.MCPServerAudit{}, pass, builder.WithPredicates(auditChanged())).
		WatchesRawSource(sweep.Begin(settle, r.start)).
		Complete(r)
}

// start lets the watches wake the controller. The first pass runs without: a deleted policy may
// have left audits.
func (r *Reconciler) start(ctx context.Context, wake func()) {
	r.context = ctx
	r.watches.start(wake)
}

// auditChanged passes changes to what discovery applies, but not status changes.
func auditChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld, e.ObjectNew
		return before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetLabels(), after.GetLabels()) ||
			!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
			!apiequality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
	}}
}
