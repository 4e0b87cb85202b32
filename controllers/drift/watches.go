package drift

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// alive excludes ended Pods, of which Jobs leave thousands.
const alive = "status.phase!=Succeeded,status.phase!=Failed"

// watches has one reflector for each namespace of the gate. One for the whole cluster would
// decode every change of every Pod, readiness heartbeats included, for a few labelled
// namespaces; this way other Pods cost nothing, and a namespace some 35 KB. They are not the
// manager's informers because they come and go with the label, and keep no Pods.
type watches struct {
	pods     rest.Interface
	podStore *podStore
	running  map[string]*watch
}

type watch struct {
	namespaceStore *namespaceStore
	stop           context.CancelFunc
}

// want makes these namespaces the only ones watched, and returns those not listed yet. It does
// not wait: the store notifies when one is.
func (w *watches) want(ctx context.Context, namespaces map[string]bool) (unread map[string]bool) {
	for namespace, running := range w.running {
		if !namespaces[namespace] {
			running.stop()
			delete(w.running, namespace)
			w.podStore.mu.Lock()
			running.namespaceStore.stopped = true
			w.podStore.drop(namespace)
			w.podStore.mu.Unlock()
		}
	}
	unread = map[string]bool{}
	for namespace := range namespaces {
		if w.running[namespace] == nil {
			w.running[namespace] = w.start(ctx, namespace)
		}
		w.podStore.mu.Lock()
		if !w.running[namespace].namespaceStore.synced {
			unread[namespace] = true
		}
		w.podStore.mu.Unlock()
	}
	return unread
}

func (w *watches) start(ctx context.Context, namespace string) *watch {
	ctx, stop := context.WithCancel(ctx)
	started := &watch{namespaceStore: &namespaceStore{podStore: w.podStore, namespace: namespace}, stop: stop}
	lister := cache.NewFilteredListWatchFromClient(w.pods, "pods", namespace, func(o *metav1.ListOptions) { o.FieldSelector = alive })
	reflector := cache.NewReflectorWithOptions(lister, &corev1.Pod{}, started.namespaceStore, cache.ReflectorOptions{Name: "pods of " + namespace})
	go reflector.RunWithContext(ctx)
	return started
}
