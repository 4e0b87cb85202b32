package drift

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// podStore tracks the running Pods in the gate's namespaces, by name and group only.
type podStore struct {
	mu sync.Mutex
	// changed is called on changes; it must be quick.
	changed func()
	// pods by namespace and name.
	pods   map[string]map[string]*group
	groups map[sum]*group
}

// group is a set of Pods that are alike. It is immutable except for pods, which the store's lock
// guards, and the judgement, which is the reconciler's.
type group struct {
	podSignature
	sum  sum
	pods int32
	judgement
}

// judgement is a group's result and what it rests on.
type judgement struct {
	judged bool
	// unreadable says why the group cannot be judged; empty if it can.
	unreadable string
	opinions   []opinion
	rests      []fact
	// due is when time alone may change it; zero for never.
	due time.Time
}

func newPodStore() *podStore {
	return &podStore{changed: func() {}, pods: map[string]map[string]*group{}, groups: map[sum]*group{}}
}

// all returns the groups for a pass that does not hold the lock.
func (w *podStore) all() []*group {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.groups))
}

// put sets the state of a Pod; one that is not running is removed.
func (w *podStore) put(namespace, name string, l podSignature, runs bool) (changed bool) {
	var id sum
	before := w.pods[namespace][name]
	if runs {
		if l, id = l.bounded(); before != nil && before.sum == id {
			return false
		}
	}
	if before != nil {
		w.leave(before)
		delete(w.pods[namespace], name)
	}
	if !runs {
		return before != nil
	}
	of := w.groups[id]
	if of == nil {
		of = &group{podSignature: l, sum: id}
		w.groups[id] = of
	}
	of.pods++
	if w.pods[namespace] == nil {
		w.pods[namespace] = map[string]*group{}
	}
	w.pods[namespace][name] = of
	return true
}

func (w *podStore) leave(g *group) {
	if g.pods--; g.pods == 0 {
		delete(w.groups, g.sum)
	}
}

func (w *podStore) drop(namespace string) {
	for _, g := range w.pods[namespace] {
		w.leave(g)
	}
	delete(w.pods, namespace)
}

// namespaceStore is the part of the store filled by a namespace's reflector.
type namespaceStore struct {
	*podStore
	namespace string
	// synced: the namespace was listed once. stopped: it is no longer wanted.
	synced, stopped bool
}

var _ cache.TransformingStore = &namespaceStore{}

// change applies a change under the lock and notifies.
func (s *namespaceStore) change(do func() bool) error {
	s.mu.Lock()
	changed := !s.stopped && do()
	s.mu.Unlock()
	if changed {
		s.changed()
	}
	return nil
}

// Add implements cache.ReflectorStore.
func (s *namespaceStore) Add(object any) error {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	l, runs := read(pod)
	return s.change(func() bool { return s.put(s.namespace, pod.Name, l, runs) })
}

// Update implements cache.ReflectorStore.
func (s *namespaceStore) Update(object any) error { return s.Add(object) }

// Delete implements cache.ReflectorStore.
func (s *namespaceStore) Delete(object any) error {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	return s.change(func() bool { return s.put(s.namespace, pod.Name, podSignature{}, false) })
}

// Replace implements cache.ReflectorStore.
func (s *namespaceStore) Replace(objects []any, _ string) error {
	type known struct {
		podSignature
		runs bool
	}
	now := make(map[string]known, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			l, runs := read(pod)
			now[pod.Name] = known{l, runs}
		}
	}
	return s.change(func() bool {
		changed := !s.synced
		s.synced = true
		for name := range s.pods[s.namespace] {
			if _, there := now[name]; !there {
				changed = s.put(s.namespace, name, podSignature{}, false) || changed
			}
		}
		for name, k := range now {
			changed = s.put(s.namespace, name, k.podSignature, k.runs) || changed
		}
		return changed
	})
}

// Resync implements cache.ReflectorStore.
func (s *namespaceStore) Resync() error { return nil }

// Transformer implements cache.TransformingStore.
func (s *namespaceStore) Transformer() cache.TransformFunc { return strip }
