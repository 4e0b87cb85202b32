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

// What the index reads, for the roles in config/rbac.
//
// What the gate decides by: verdicts, policies and exceptions.
// +kubebuilder:rbac:groups=mcpaudit.dev,resources=mcpserveraudits;mcpauditpolicies;clustermcpauditpolicies;mcpauditexceptions,verbs=get;list;watch
//
// Policies select namespaces by their labels. The labels kubernetes.io/arch and
// kubernetes.io/os of the nodes decide whether the verdict on one platform is enough.
// Only the metadata of both is read.
// +kubebuilder:rbac:groups="",resources=namespaces;nodes,verbs=list;watch

// How often an API server that does not know the kinds yet is asked again, and how
// often it is looked whether what it told has arrived.
const (
	informPeriod = 2 * time.Second
	syncPeriod   = 50 * time.Millisecond
)

// CacheOptions have the cache keep of namespaces and nodes what the index reads.
func CacheOptions() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Namespace{}: {Transform: keepLabels},
		&corev1.Node{}:      {Transform: keepLabels},
	}
}

// keepLabels forgets all of an object's metadata but its labels and what it is.
func keepLabels(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil // a tombstone
	}
	return &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion, Labels: full.Labels,
	}}, nil
}

// SetupWithManager has the Store fed by the manager's informers.
func (s *Store) SetupWithManager(manager ctrl.Manager) error {
	s.informers = manager.GetCache()
	if err := manager.Add(s); err != nil {
		return fmt.Errorf("register index: %w", err)
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica answers.
func (s *Store) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. A manager may be there before the API server
// knows the kinds, so each is asked for until it does.
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
			return nil //nolint:nilerr // it can only be that the manager is being stopped
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

// source is a kind with what is done about one object of it that is there, and about
// one that is gone.
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
				exception = nil // its own status says why it does not count
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

// architecture of a node, as gate.Facts has it. One that does not say it could have any.
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

// feed has the Store told of every object of a kind. Objects of the informer are only
// looked at, and what is kept of them shares their strings.
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

// handler keeps the index by name: an object that was deleted and created again is a
// change like any other.
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
