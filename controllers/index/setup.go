package index

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// RBAC of the index.
//
// The gate decides by verdicts, policies and exceptions.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits;mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch
//
// Policies select namespaces by label. The labels kubernetes.io/arch and kubernetes.io/os of
// the nodes decide whether a verdict on one platform is enough. Only the metadata of both is
// read.
// +kubebuilder:rbac:groups="",resources=namespaces;nodes,verbs=list;watch

// Retry intervals: for kinds that the API server does not know yet, and for the initial sync.
const (
	informPeriod = 2 * time.Second
	syncPeriod   = 50 * time.Millisecond
)

// CacheOptions limits cached objects to what the index reads.
func CacheOptions() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Namespace{}:               {Transform: keepLabels},
		&corev1.Node{}:                    {Transform: keepLabels},
		&v1alpha1.MCPAuditPolicy{}:        {Transform: dropNotes},
		&v1alpha1.ClusterMCPAuditPolicy{}: {Transform: dropNotes},
		&v1alpha1.MCPAuditException{}:     {Transform: dropNotes},
	}
}

// dropNotes drops the parts of a policy or exception that nothing reads, and that tenants can make large. As
// the status stays whole, a merge patch between two such objects is safe.
func dropNotes(object any) (any, error) {
	if known, ok := object.(client.Object); ok {
		known.SetManagedFields(nil)
		known.SetAnnotations(nil)
	}
	return object, nil
}

// keepLabels reduces an object to its identity and labels.
func keepLabels(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil // a tombstone
	}
	return &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion, Labels: full.Labels,
	}}, nil
}

// SetupWithManager feeds the Store from the manager's informers.
func (s *Store) SetupWithManager(manager ctrl.Manager) error {
	s.informers = manager.GetCache()
	if err := manager.Add(s); err != nil {
		return fmt.Errorf("register index: %w", err)
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica answers.
func (s *Store) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. The manager may start before the CRDs exist, so each kind
// is retried.
func (s *Store) Start(ctx context.Context) error {
	var fed []toolscache.ResourceEventHandlerRegistration
	for _, source := range s.sources() {
		err := wait.PollUntilContextCancel(ctx, informPeriod, true, func(ctx context.Context) (bool, error) {
			registration, err := s.feed(ctx, source)
			if err != nil {
				log.FromContext(ctx).Info("Waited for the API server to know a kind", "kind", fmt.Sprintf("%T", source.kind), "error", err.Error())
				return false, nil
			}
			fed = append(fed, registration)
			return true, nil
		})
		if err != nil {
			return nil //nolint:nilerr // only when the manager stops
		}
	}
	err := wait.PollUntilContextCancel(ctx, syncPeriod, true, func(context.Context) (bool, error) {
		for _, registration := range fed {
			if !registration.HasSynced() {
				return false, nil
			}
		}
		return true, nil
	})
	if err == nil {
		s.change(func() bool { s.synced.Store(true); return true })
	}
	return nil
}

// Check is a healthz.Checker: it fails until the Store is Synced.
func (s *Store) Check(*http.Request) error {
	if !s.Synced() {
		return fmt.Errorf("the index is not filled yet: it has %d verdicts", s.Len())
	}
	return nil
}

// source is a kind with the functions for an existing and for a deleted object.
type source struct {
	kind client.Object
	set  func(client.Object)
	gone func(types.NamespacedName)
}

func (s *Store) sources() []source {
	metadata := func(kind string) client.Object {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
	}
	return []source{
		sourceOf(func(a *v1alpha1.MCPServerAudit) { s.setVerdict(client.ObjectKeyFromObject(a), gate.ReadVerdict(a)) },
			func(name types.NamespacedName) { s.setVerdict(name, nil) }),
		sourceOf(func(p *v1alpha1.MCPAuditPolicy) {
			s.setPolicy(policyKey{gate.KindPolicy, p.Namespace, p.Name}, policy{gate.ReadPolicy(p), p.UID, p.Generation})
		}, func(name types.NamespacedName) {
			s.setPolicy(policyKey{gate.KindPolicy, name.Namespace, name.Name}, policy{})
		}),
		sourceOf(func(p *v1alpha1.ClusterMCPAuditPolicy) {
			s.setPolicy(policyKey{gate.KindClusterPolicy, "", p.Name}, policy{gate.ReadClusterPolicy(p), p.UID, p.Generation})
		}, func(name types.NamespacedName) {
			s.setPolicy(policyKey{gate.KindClusterPolicy, "", name.Name}, policy{})
		}),
		sourceOf(func(e *v1alpha1.MCPAuditException) {
			exception, err := gate.ReadException(e)
			if err != nil {
				exception = nil // its own status explains why it does not count
			}
			s.setException(client.ObjectKeyFromObject(e), exception)
		}, func(name types.NamespacedName) { s.setException(name, nil) }),
		{metadata("Namespace"), func(o client.Object) {
			set := o.GetLabels()
			if set == nil {
				set = map[string]string{}
			}
			s.setNamespace(o.GetName(), set)
		}, func(name types.NamespacedName) { s.setNamespace(name.Name, nil) }},
		{metadata("Node"), func(o client.Object) { s.setNode(o.GetName(), architecture(o.GetLabels())) },
			func(name types.NamespacedName) { s.setNode(name.Name, "") }},
	}
}

// architecture returns a node's architecture, as in gate.Facts. One without the label could
// have any.
func architecture(of map[string]string) string {
	architecture := cmp.Or(of[corev1.LabelArchStable], "unknown")
	if system := of[corev1.LabelOSStable]; system != "" && system != string(corev1.Linux) {
		return system + "/" + architecture
	}
	return architecture
}

func sourceOf[T any, P interface {
	*T
	client.Object
}](set func(P), gone func(types.NamespacedName)) source {
	return source{P(new(T)), func(o client.Object) {
		if typed, ok := o.(P); ok {
			set(typed)
		}
	}, gone}
}

// feed reports every object of a kind to the Store. Informer objects are only read, and what is
// kept shares their strings.
func (s *Store) feed(ctx context.Context, of source) (toolscache.ResourceEventHandlerRegistration, error) {
	informer, err := s.informers.GetInformer(ctx, of.kind, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	registration, err := informer.AddEventHandler(of.handler())
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return registration, nil
}

// handler keys the index by name, so recreating an object is a change like any other.
func (of source) handler() toolscache.ResourceEventHandler {
	set := func(object any) {
		if known, ok := object.(client.Object); ok {
			of.set(known)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, after any) { set(after) },
		DeleteFunc: func(object any) {
			key, err := toolscache.DeletionHandlingObjectToName(object)
			if err == nil {
				of.gone(types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
			}
		},
	}
}
