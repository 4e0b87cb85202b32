// Package sweep is shared by controllers that reconcile everything in one pass: any change
// triggers a pass, and passes are batched.
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

// Index is implemented by controllers/index.
type Index interface {
	Facts(now time.Time) gate.Facts
	All() iter.Seq[*gate.Verdict]
	Synced() bool
	Subscribe(changed func())
}

// everything is the only request of such a controller.
var everything = reconcile.Request{NamespacedName: types.NamespacedName{Name: "cluster"}}

// queue holds the request once.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// After handles changes by a pass after a delay, which batches further changes.
func After(wait time.Duration) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q queue) { q.AddAfter(everything, wait) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q queue) { q.AddAfter(everything, wait) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q queue) { q.AddAfter(everything, wait) },
	}
}

// Begin triggers the first pass when the controller starts. wake, which start receives,
// triggers another after the delay.
func Begin(wait time.Duration, start func(ctx context.Context, wake func())) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		start(ctx, func() { q.AddAfter(everything, wait) })
		q.Add(everything)
		return nil
	})
}
