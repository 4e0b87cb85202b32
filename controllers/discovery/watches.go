package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

var (
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	crds       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// watches are the informers that the policies need and the cluster can serve. They are not in
// the manager's cache because they come and go with the CRDs, and keep only a candidate of each
// object.
type watches struct {
	objects  dynamic.Interface
	metadata metadata.Interface

	mu      sync.Mutex
	wake    func()
	running map[schema.GroupVersionResource]*watch
	// served has the versions by CRD name; nil to look them up again.
	served map[string][]string
}

// watch is one informer, ended by stop.
type watch struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	mu       sync.Mutex
	err      error // of the last list or watch
}

// start sets the function that wakes the controller.
func (w *watches) start(wake func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake, w.running = wake, map[schema.GroupVersionResource]*watch{}
}

// want makes these sources the only ones watched. It does not wait: a source still being read
// is Pending, and wakes the controller when done. The watches end with ctx, the manager's.
func (w *watches) want(ctx context.Context, sources []v1alpha1.DiscoverySource) (map[v1alpha1.DiscoverySource]sourceState, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := map[schema.GroupVersionResource]bool{}
	states := map[v1alpha1.DiscoverySource]sourceState{}
	if len(sources) == 0 {
		w.stopOthers(wanted)
		return states, nil
	}
	wanted[namespaces], wanted[crds] = true, true
	if err := errors.Join(w.watchCluster(ctx), w.lookUp(ctx)); err != nil {
		return nil, err // stop nothing: the CRD is not known to be gone
	}
	for _, r := range resources {
		if !slices.Contains(sources, r.source) {
			continue
		}
		version, message := w.version(r)
		if version == "" {
			_, installed := w.served[r.crd()]
			states[r.source] = sourceState{State: v1alpha1.SourceNotServed, Message: message, Unread: installed}
			continue
		}
		gvr := schema.GroupVersionResource{Group: r.kind.Group, Version: version, Resource: r.plural}
		wanted[gvr] = true
		if err := w.watchResource(ctx, r, gvr); err != nil {
			return nil, err
		}
		if state := w.running[gvr].state(); states[r.source].State != v1alpha1.SourcePending {
			states[r.source] = state // a source is as good as its worst kind
		}
	}
	w.stopOthers(wanted)
	return states, nil
}

func (w *watches) stopOthers(wanted map[schema.GroupVersionResource]bool) {
	for gvr, running := range w.running {
		if !wanted[gvr] {
			running.stop()
			delete(w.running, gvr)
		}
	}
	if len(w.running) == 0 {
		w.served = nil // nobody watches the CRDs
	}
}

// watchCluster watches the metadata of namespaces and CRDs.
func (w *watches) watchCluster(ctx context.Context) error {
	for gvr, changed := range map[schema.GroupVersionResource]func(before, after any) bool{namespaces: namespaceChanged, crds: w.crdChanged} {
		if w.running[gvr] != nil {
			continue
		}
		informer := metadatainformer.NewFilteredMetadataInformer(w.metadata, gvr, "", 0, cache.Indexers{}, nil).Informer()
		if err := w.run(ctx, gvr, informer, keepLabels, changed); err != nil {
			return err
		}
	}
	return nil
}

func (w *watches) watchResource(ctx context.Context, r resource, gvr schema.GroupVersionResource) error {
	if w.running[gvr] != nil {
		return nil
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(w.objects, gvr, metav1.NamespaceAll, 0, cache.Indexers{},
		func(o *metav1.ListOptions) { o.LabelSelector = r.selector }).Informer()
	return w.run(ctx, gvr, informer, func(object any) (any, error) { return keepCandidate(object, r), nil }, candidateChanged)
}

// run starts an informer. changed reports whether an event matters; one of its objects is nil
// for additions and deletions.
func (w *watches) run(ctx context.Context, gvr schema.GroupVersionResource, informer cache.SharedIndexInformer,
	keep cache.TransformFunc, changed func(before, after any) bool) error {
	ctx, stop := context.WithCancel(ctx)
	started := &watch{informer: informer, stop: stop}
	wake := w.wake
	see := func(before, after any) {
		if changed(before, after) {
			wake()
		}
	}
	err := informer.SetTransform(keep)
	if err == nil {
		err = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, r, err)
			if started.failed(err) {
				wake()
			}
		})
	}
	if err == nil {
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(added any) { see(nil, added) },
			UpdateFunc: see,
			DeleteFunc: func(deleted any) { see(deleted, nil) },
		})
	}
	if err != nil {
		stop()
		return fmt.Errorf("watch %s: %w", gvr.GroupResource(), err)
	}
	w.running[gvr] = started
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			wake()
		}
	}()
	return nil
}

// failed notes an error, and reports whether it is new for a source that was not read yet.
func (w *watch) failed(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := !w.informer.HasSynced() && (w.err == nil || w.err.Error() != err.Error())
	w.err = err
	return news
}

// state returns the watch's state. Once read, it keeps its objects through later failures.
func (w *watch) state() sourceState {
	if w.informer.HasSynced() {
		return sourceState{State: v1alpha1.SourceWatched}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		const maxMessage = 256 // as in the CRD
		return sourceState{State: v1alpha1.SourcePending, Message: excerpt.Line(w.err.Error(), maxMessage)}
	}
	return sourceState{State: v1alpha1.SourcePending}
}

// keepCandidate reduces an object to a candidate on arrival.
func keepCandidate(object any, r resource) any {
	if read, ok := object.(*unstructured.Unstructured); ok {
		return newCandidate(read, r.source, r.read)
	}
	return object // a candidate already, or the tombstone of one
}

func candidateChanged(before, after any) bool {
	a, aOK := before.(*candidate)
	b, bOK := after.(*candidate)
	if !aOK || !bOK {
		return true
	}
	left, right := *a, *b
	left.ResourceVersion, right.ResourceVersion = "", ""
	return !reflect.DeepEqual(left, right)
}

// keepLabels reduces an object to its identity and labels.
func keepLabels(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion, Labels: full.Labels, DeletionTimestamp: full.DeletionTimestamp,
	}}, nil
}

func namespaceChanged(before, after any) bool {
	a, aOK := before.(*metav1.PartialObjectMetadata)
	b, bOK := after.(*metav1.PartialObjectMetadata)
	return !aOK || !bOK || !maps.Equal(a.Labels, b.Labels) || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero()
}

// namespaceLabels returns the labels of namespaces that are not terminating, and whether all
// are known.
func (w *watches) namespaceLabels() (map[string]labels.Set, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	watched := w.running[namespaces]
	if watched == nil || !watched.informer.HasSynced() {
		return nil, false
	}
	known := map[string]labels.Set{}
	for _, item := range watched.informer.GetStore().List() {
		if namespace, ok := item.(*metav1.PartialObjectMetadata); ok && namespace.DeletionTimestamp.IsZero() {
			known[namespace.Name] = namespace.Labels
		}
	}
	return known, true
}

// candidates returns those of all synced watches.
func (w *watches) candidates() []*candidate {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*candidate
	for _, running := range w.running {
		if !running.informer.HasSynced() {
			continue
		}
		for _, item := range running.informer.GetStore().List() {
			if c, ok := item.(*candidate); ok {
				list = append(list, c)
			}
		}
	}
	return list
}
