// Package sweep has what controllers share that look at everything in one pass: a change of
// any object wakes them, and a storm of changes is one pass.
package sweep

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Everything is the one request of such a controller.
var Everything = reconcile.Request{NamespacedName: types.NamespacedName{Name: "cluster"}}

// Queue holds the request, once.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// After handles a change of any object by a pass that begins after a time, in which other
// changes join it.
func After(wait time.Duration) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q Queue) { q.AddAfter(Everything, wait) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q Queue) { q.AddAfter(Everything, wait) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q Queue) { q.AddAfter(Everything, wait) },
	}
}
