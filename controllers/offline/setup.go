package offline

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// RBAC of the controller.
//
// Policies and exceptions are compiled.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch
//
// Lists are written only in the operator's namespace. Binding a policy to them also requires
// permission to list them.
// +kubebuilder:rbac:groups="",namespace=mcpaudit-system,resources=configmaps,verbs=get;list;watch;create;update;delete
//
// Bindings are cluster-scoped, and create cannot be restricted by name. They bind the static
// policies of config/policy, which the operator may not write.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicybindings,verbs=get;list;watch;create;update;delete

// settle is the delay that batches changes: a storm of verdicts takes a few passes.
const settle = time.Second

// SetupWithManager registers the controller, which runs on the leader. It has its own cache, as
// the manager's must not hold foreign ConfigMaps.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	ours, err := labels.NewRequirement(labelList, selection.Exists, nil)
	if err != nil {
		return fmt.Errorf("select what is kept: %w", err)
	}
	selector := labels.NewSelector().Add(*ours)
	kept, err := cache.New(manager.GetConfig(), cache.Options{
		HTTPClient: manager.GetHTTPClient(), Scheme: manager.GetScheme(), Mapper: manager.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}:                             {Namespaces: map[string]cache.Config{options.SystemNamespace: {LabelSelector: selector}}},
			&admissionv1.ValidatingAdmissionPolicyBinding{}: {Label: selector},
		},
	})
	if err != nil {
		return fmt.Errorf("create cache: %w", err)
	}
	if err := manager.Add(kept); err != nil {
		return fmt.Errorf("register cache: %w", err)
	}
	r.kept = kept
	wake := sweep.After(settle)
	spec := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("offline").
		Watches(&v1alpha1.MCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.MCPAuditException{}, wake, spec).
		WatchesRawSource(source.Kind[client.Object](kept, &corev1.ConfigMap{}, wake)).
		WatchesRawSource(source.Kind[client.Object](kept, &admissionv1.ValidatingAdmissionPolicyBinding{}, wake)).
		WatchesRawSource(sweep.Begin(settle, func(_ context.Context, wake func()) { r.Index.Subscribe(wake) })).
		Complete(r)
}
