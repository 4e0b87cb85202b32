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

// What the controller does with the API, for the roles in config/rbac.
//
// Policies and exceptions are compiled.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch
//
// Lists are written next to the operator and nowhere else. To list them is also what
// the API server asks of whoever binds a policy to them.
// +kubebuilder:rbac:groups="",namespace=mcpaudit-system,resources=configmaps,verbs=get;list;watch;create;update;delete
//
// A binding has no namespace, and a create cannot be restricted to a name. It binds one
// of the static policies of config/policy: the operator may not write policies.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicybindings,verbs=get;list;watch;create;update;delete

// settle is how long a change waits for others: a storm of verdicts is a few passes.
const settle = time.Second

// SetupWithManager registers the controller, which runs where the leader is. What it
// keeps is in a cache of its own: the manager's has nothing of other ConfigMaps either.
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
	err = ctrl.NewControllerManagedBy(manager).
		Named("offline").
		Watches(&v1alpha1.MCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.ClusterMCPAuditPolicy{}, wake, spec).
		Watches(&v1alpha1.MCPAuditException{}, wake, spec).
		WatchesRawSource(source.Kind[client.Object](kept, &corev1.ConfigMap{}, wake)).
		WatchesRawSource(source.Kind[client.Object](kept, &admissionv1.ValidatingAdmissionPolicyBinding{}, wake)).
		WatchesRawSource(sweep.Begin(settle, func(_ context.Context, wake func()) { r.Index.Subscribe(wake) })).
		Complete(r)
	if err != nil {
		return fmt.Errorf("register controller: %w", err)
	}
	return nil
}
