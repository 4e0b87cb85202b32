// Package index keeps in memory what the gate decides by: verdicts by digest and by reference,
// policies, exceptions, namespace labels and node architectures. Informers feed it on every
// replica, so neither the webhook (controllers/admission) nor the other users of the gate
// (controllers/drift, controllers/offline) query the API server.
package index

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Store is the index. Use New to create one.
type Store struct {
	informers informers
	synced    atomic.Bool
	// EnvironmentKey returns the key for environment digests; nil for none.
	EnvironmentKey func() []byte

	// rules seldom change and are read as a whole.
	rules atomic.Pointer[rules]

	mu          sync.RWMutex
	audits      map[types.NamespacedName]*gate.Verdict
	byDigest    map[v1alpha1.Digest][]*gate.Verdict
	byImageID   map[v1alpha1.Digest][]*gate.Verdict
	byImage     map[string][]*gate.Verdict
	namespaces  map[string]labels.Set
	policies    map[policyKey]policy
	exceptions  map[types.NamespacedName]*gate.Exception
	nodes       map[string]string // architecture by name
	subscribers []func()
}

// informers is the part of cache.Cache that fills a Store.
type informers interface {
	GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error)
}

// rules is immutable: changes replace it.
type rules struct {
	policies      []*gate.Policy
	exceptions    []*gate.Exception
	architectures []string
}

type policyKey struct{ kind, namespace, name string }

// policy is a parsed policy with the version of its spec.
type policy struct {
	*gate.Policy
	uid        types.UID
	generation int64
}

// New returns an empty Store, which is not Synced.
func New() *Store {
	s := &Store{
		audits:     map[types.NamespacedName]*gate.Verdict{},
		byDigest:   map[v1alpha1.Digest][]*gate.Verdict{},
		byImageID:  map[v1alpha1.Digest][]*gate.Verdict{},
		byImage:    map[string][]*gate.Verdict{},
		namespaces: map[string]labels.Set{},
		policies:   map[policyKey]policy{},
		exceptions: map[types.NamespacedName]*gate.Exception{},
		nodes:      map[string]string{},
	}
	s.rules.Store(&rules{})
	return s
}

// Facts returns the inputs of a decision at a time, without copying. Policies and exceptions
// are a snapshot; verdicts and labels are looked up on demand, each under a short lock, so
// decisions do not delay updates.
func (s *Store) Facts(now time.Time) gate.Facts {
	rules := s.rules.Load()
	var key []byte
	if s.EnvironmentKey != nil {
		key = s.EnvironmentKey()
	}
	return gate.Facts{
		EnvironmentKey: key,
		Policies:       rules.policies, Exceptions: rules.exceptions, Verdicts: s,
		NamespaceLabels: s.namespaceLabels, Architectures: rules.architectures, Now: now,
	}
}

// ByDigest implements gate.Verdicts.
func (s *Store) ByDigest(digest v1alpha1.Digest) []*gate.Verdict {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byDigest[digest]
}

// ByImageID implements gate.Verdicts.
func (s *Store) ByImageID(id v1alpha1.Digest) []*gate.Verdict {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byImageID[id]
}

// ByImage implements gate.Verdicts.
func (s *Store) ByImage(image string) []*gate.Verdict {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byImage[image]
}

func (s *Store) namespaceLabels(namespace string) (labels.Set, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	set, ok := s.namespaces[namespace]
	return set, ok
}

// All yields the verdicts of all audits at the time of the call, in no particular order.
func (s *Store) All() iter.Seq[*gate.Verdict] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Values(slices.Collect(maps.Values(s.audits)))
}

// Len returns the number of verdicts.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.audits)
}

// Synced reports whether everything that existed at startup is known.
func (s *Store) Synced() bool { return s.synced.Load() }

// Subscribe registers a function that is called after changes, and when the Store is Synced. It
// must be quick, as it blocks updates; one call may cover several changes.
func (s *Store) Subscribe(changed func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, changed)
}

// change applies a change, and notifies the subscribers if it had an effect.
func (s *Store) change(change func() bool) {
	s.mu.Lock()
	changed := change()
	subscribers := s.subscribers
	s.mu.Unlock()
	if changed {
		for _, tell := range subscribers {
			tell()
		}
	}
}

// setVerdict replaces the verdict of an audit; nil for none. Its cost is linear in the audits
// of the same image.
func (s *Store) setVerdict(audit types.NamespacedName, verdict *gate.Verdict) {
	s.change(func() bool {
		before := s.audits[audit]
		if before == verdict || before != nil && verdict != nil && reflect.DeepEqual(before, verdict) {
			return false
		}
		if before != nil {
			delete(s.audits, audit)
			without(s.byImage, before.Image, before)
			without(s.byImageID, before.ImageID, before)
			for _, digest := range distinct(before.Manifests()) {
				without(s.byDigest, digest, before)
			}
		}
		if verdict != nil {
			// Servers of one image share its name. The digests already are the strings of the
			// informer's object.
			verdict.Image = unique.Make(verdict.Image).Value()
			s.audits[audit] = verdict
			with(s.byImage, verdict.Image, verdict)
			with(s.byImageID, verdict.ImageID, verdict)
			for _, digest := range distinct(verdict.Manifests()) {
				with(s.byDigest, digest, verdict)
			}
		}
		return true
	})
}

func distinct(digests []v1alpha1.Digest) []v1alpha1.Digest {
	return slices.Compact(slices.Sorted(slices.Values(digests)))
}

// with and without replace a list instead of modifying it, as it may be in use. Lists are
// ordered by audit, so decisions do not depend on the order of events.
func with[K ~string](lists map[K][]*gate.Verdict, key K, verdict *gate.Verdict) {
	if key == "" {
		return
	}
	list := lists[key]
	at, _ := slices.BinarySearchFunc(list, verdict, byAudit)
	lists[key] = slices.Concat(list[:at], []*gate.Verdict{verdict}, list[at:])
}

func without[K ~string](lists map[K][]*gate.Verdict, key K, verdict *gate.Verdict) {
	list := lists[key]
	at := slices.Index(list, verdict)
	switch {
	case at < 0:
	case len(list) == 1:
		delete(lists, key)
	default:
		lists[key] = slices.Concat(list[:at], list[at+1:])
	}
}

func byAudit(a, b *gate.Verdict) int {
	return cmp.Or(cmp.Compare(a.Audit.Namespace, b.Audit.Namespace), cmp.Compare(a.Audit.Name, b.Audit.Name))
}

// setPolicy replaces a policy; one whose Policy is nil has no gate. Status changes have no
// effect.
func (s *Store) setPolicy(key policyKey, p policy) {
	s.change(func() bool {
		before, known := s.policies[key]
		if known && before.uid == p.uid && before.generation == p.generation || !known && p.Policy == nil {
			return false
		}
		delete(s.policies, key)
		if p.Policy != nil {
			s.policies[key] = p
		}
		s.remember()
		return true
	})
}

// setException replaces an exception; nil if it does not count.
func (s *Store) setException(name types.NamespacedName, exception *gate.Exception) {
	s.change(func() bool {
		before := s.exceptions[name]
		if reflect.DeepEqual(before, exception) {
			return false
		}
		delete(s.exceptions, name)
		if exception != nil {
			s.exceptions[name] = exception
		}
		s.remember()
		return true
	})
}

// setNode sets the architecture of a node; empty if the node is gone.
func (s *Store) setNode(name, architecture string) {
	s.change(func() bool {
		if s.nodes[name] == architecture {
			return false
		}
		delete(s.nodes, name)
		if architecture != "" {
			s.nodes[name] = architecture
		}
		before := s.rules.Load().architectures
		s.remember()
		return !slices.Equal(before, s.rules.Load().architectures)
	})
}

// setNamespace sets the labels of a namespace; nil if it is gone.
func (s *Store) setNamespace(name string, set labels.Set) {
	s.change(func() bool {
		before, known := s.namespaces[name]
		if known == (set != nil) && maps.Equal(before, set) {
			return false
		}
		delete(s.namespaces, name)
		if set != nil {
			s.namespaces[name] = set
		}
		return true
	})
}

// remember rebuilds the rules. The caller holds the lock.
func (s *Store) remember() {
	next := &rules{architectures: slices.Compact(slices.Sorted(maps.Values(s.nodes)))}
	for _, key := range slices.SortedFunc(maps.Keys(s.policies), func(a, b policyKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		next.policies = append(next.policies, s.policies[key].Policy)
	}
	next.exceptions = slices.SortedFunc(maps.Values(s.exceptions), func(a, b *gate.Exception) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s.rules.Store(next)
}
