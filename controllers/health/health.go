// Package health answers the kubelet. Alive means that no reconciliation is stuck;
// ready, that the caches are filled and that the API server answers. A replica is
// never ended because something else is down: every reconciliation has a deadline,
// and only one that does not keep to it is a reason to start again.
package health

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// ReconcileTimeout bounds one reconciliation: it asks a registry, reads a log
	// and writes a few objects, each of which has a shorter bound of its own. It
	// ends calls to an API server that is gone.
	ReconcileTimeout = 2 * time.Minute
	// stuckAfter is when a reconciliation has not ended although it had to.
	stuckAfter = 5 * ReconcileTimeout
)

// Watchdog knows the reconciliations in progress.
type Watchdog struct {
	clock   clock.PassiveClock
	mutex   sync.Mutex
	last    uint64
	running map[uint64]run
}

type run struct {
	of    reconcile.Request
	since time.Time
}

// NewWatchdog makes a Watchdog.
func NewWatchdog(clock clock.PassiveClock) *Watchdog {
	return &Watchdog{clock: clock, running: map[uint64]run{}}
}

// Watch wraps a reconciler: its reconciliations have a deadline, and are watched.
func (w *Watchdog) Watch(next reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		defer w.begin(request)()
		ctx, cancel := context.WithTimeout(ctx, ReconcileTimeout)
		defer cancel()
		return next.Reconcile(ctx, request)
	})
}

func (w *Watchdog) begin(request reconcile.Request) (end func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.last++
	id := w.last
	w.running[id] = run{request, w.clock.Now()}
	return func() {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		delete(w.running, id)
	}
}

// Check is a healthz.Checker: it fails when a reconciliation is stuck.
func (w *Watchdog) Check(*http.Request) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, run := range w.running {
		if since := w.clock.Since(run.since); since > stuckAfter {
			return fmt.Errorf("the reconciliation of %s goes on for %s", run.of, since.Round(time.Second))
		}
	}
	return nil
}

// How long a question to the API server may take, and for how long it is excused
// that there is no answer.
const (
	askTimeout   = 2 * time.Second
	silenceLimit = 30 * time.Second
)

// APIServer asks the API server for its version.
type APIServer struct {
	client rest.Interface
	clock  clock.PassiveClock
	mutex  sync.Mutex
	heard  time.Time
}

// NewAPIServer makes an APIServer.
func NewAPIServer(client rest.Interface, clock clock.PassiveClock) *APIServer {
	return &APIServer{client: client, clock: clock}
}

// Check is a healthz.Checker: it fails once the API server has been silent for a
// while, and before it has answered for the first time.
func (a *APIServer) Check(request *http.Request) error {
	ctx, cancel := context.WithTimeout(request.Context(), askTimeout)
	defer cancel()
	err := a.client.Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	switch {
	case err == nil:
		a.heard = a.clock.Now()
		return nil
	case a.heard.IsZero() || a.clock.Since(a.heard) > silenceLimit:
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	return nil
}
