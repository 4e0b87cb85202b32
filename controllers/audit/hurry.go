package audit

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// workQueue is the controller's queue.
type workQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// urgent is the priority of audits that hold a slot; others have 0, or less when the manager
// starts.
const urgent = 1

// hurry moves an audit that holds a slot ahead of those that wait for one. Thousands of audits
// applied at once, or found at startup, would otherwise delay the few that free slots.
func hurry(queue workQueue, request reconcile.Request) {
	if q, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(urgent)}, request)
		return
	}
	queue.Add(request)
}

// hurryAudits enqueues the audit of a Pod that was created, changed or deleted.
func hurryAudits() handler.EventHandler {
	enqueue := func(object client.Object, queue workQueue) {
		if pod, ok := object.(*corev1.Pod); ok {
			if run, err := podspec.ReadRun(pod); err == nil {
				hurry(queue, reconcile.Request{NamespacedName: run.Audit})
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workQueue) { enqueue(e.Object, queue) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workQueue) { enqueue(e.ObjectNew, queue) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue workQueue) { enqueue(e.Object, queue) },
	}
}
