package policyreport

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// mark annotates cached metadata with what is kept: whether a CRD is served, or a report's
// digest.
const mark = "mcpaudit.dev/kept"

// watches watches the CRDs by name, and the reports of the kinds that are served. These come
// and go with the CRDs without polling: a manager's cache would block on a missing kind.
type watches struct {
	objects dynamic.Interface
	// wake enqueues all audits, changed one.
	wake    func()
	changed func(types.NamespacedName)

	mu      sync.Mutex
	reports map[string]*watch // by CRD name
}

type watch struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
}

// start watches the CRDs until the context ends.
func (w *watches) start(ctx context.Context) error {
	w.reports = map[string]*watch{}
	for _, k := range kinds {
		informer := dynamicinformer.NewFilteredDynamicInformer(w.objects, definitions, metav1.NamespaceAll, 0, cache.Indexers{},
			func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, k.crd()).String()
			}).Informer()
		err := informer.SetTransform(func(object any) (any, error) {
			crd, ok := object.(*unstructured.Unstructured)
			if !ok {
				return object, nil
			}
			return keep(crd, fmt.Sprint(k.serves(crd))), nil
		})
		if err != nil {
			return fmt.Errorf("watch definitions: %w", err)
		}
		see := func(object any) {
			crd, ok := object.(*metav1.PartialObjectMetadata)
			w.serve(ctx, k, ok && crd.Annotations[mark] == "true")
		}
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: see, UpdateFunc: func(_, after any) { see(after) }, DeleteFunc: func(any) { w.serve(ctx, k, false) },
		})
		if err != nil {
			return fmt.Errorf("watch definitions: %w", err)
		}
		go informer.RunWithContext(ctx)
	}
	return nil
}

// serve starts or stops watching the reports of a kind.
func (w *watches) serve(ctx context.Context, k kind, served bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	running := w.reports[k.crd()]
	switch {
	case served && running == nil:
		if err := w.watch(ctx, k); err != nil {
			panic(err) // an informer that has not started refuses nothing
		}
	case !served && running != nil:
		running.stop()
		delete(w.reports, k.crd())
		go w.wake() // the other kind may be the preferred one now
	}
}

func (w *watches) watch(ctx context.Context, k kind) error {
	informer := dynamicinformer.NewFilteredDynamicInformer(w.objects, k.resource, metav1.NamespaceAll, 0, cache.Indexers{},
		func(o *metav1.ListOptions) {
			o.LabelSelector = labels.Set{labelManagedBy: managedBy}.String()
		}).Informer()
	err := informer.SetTransform(func(object any) (any, error) {
		report, ok := object.(*unstructured.Unstructured)
		if !ok {
			return object, nil
		}
		return keep(report, digest(report)), nil
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", k.crd(), err)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if a, b := kept(before), kept(after); a == nil || b == nil || a.Annotations[mark] != b.Annotations[mark] {
				w.enqueueOwner(after)
			}
		},
		DeleteFunc: w.enqueueOwner,
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", k.crd(), err)
	}
	ctx, stop := context.WithCancel(ctx)
	w.reports[k.crd()] = &watch{informer, stop}
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			w.wake()
		}
	}()
	return nil
}

// enqueueOwner enqueues the audit of a report that was changed or deleted.
func (w *watches) enqueueOwner(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if report := kept(object); report != nil {
		for _, owner := range report.OwnerReferences {
			if owner.Kind == "MCPServerAudit" {
				w.changed(types.NamespacedName{Namespace: report.Namespace, Name: owner.Name})
			}
		}
	}
}

// any reports whether any kind is served.
func (w *watches) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.reports) > 0
}

// state is a kind that is served and its reports.
type state struct {
	kind
	store cache.Store
}

// states returns the kinds that are served and read, preferred first. ok is false while one is
// not read: the preferred kind and the existing reports are then unknown.
func (w *watches) states() (all []state, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range kinds {
		running := w.reports[k.crd()]
		if running == nil {
			continue
		}
		if !running.informer.HasSynced() {
			return nil, false
		}
		all = append(all, state{k, running.informer.GetStore()})
	}
	return all, true
}

// have returns the existing report of an audit, or nil.
func (s state) have(namespace, name string) *metav1.PartialObjectMetadata {
	object, _, err := s.store.GetByKey(namespace + "/" + name)
	if err != nil {
		return nil
	}
	return kept(object)
}

// keep reduces an object to its identity and one word about it.
func keep(object *unstructured.Unstructured, word string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		OwnerReferences: object.GetOwnerReferences(), Annotations: map[string]string{mark: word},
	}}
}

func kept(object any) *metav1.PartialObjectMetadata {
	meta, _ := object.(*metav1.PartialObjectMetadata)
	return meta
}
