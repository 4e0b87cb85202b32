// Package sweep has what controllers share that look at everything in one pass: a change of
// any object wakes them, and a storm of changes is one pass.
package sweep

import (
	"context"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// Index has what is known of audits; controllers/index has it.
type Index interface {
	Facts(now time.Time) gate.Facts
	All() iter.Seq[*gate.Verdict]
	Synced() bool
	Subscribe(changed func())
}

// everything is the one request of such a controller.
var everything = reconcile.Request{NamespacedName: types.NamespacedName{Name: "cluster"}}

// queue holds the request, once.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// After handles a change of any object by a pass that begins after a time, in which other
// changes join it.
func After(wait time.Duration) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q queue) { q.AddAfter(everything, wait) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q queue) { q.AddAfter(everything, wait) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q queue) { q.AddAfter(everything, wait) },
	}
}

// Begin has the first pass made when the controller starts. What start keeps wakes it for
// another, which begins after a time as well.
func Begin(wait time.Duration, start func(ctx context.Context, wake func())) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		start(ctx, func() { q.AddAfter(everything, wait) })
		q.Add(everything)
		return nil
	})
}
