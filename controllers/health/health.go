// Package health implements the probes. Live means that no reconciliation is stuck; ready, that
// the caches are filled and the API server answers. A replica is never restarted because
// something else is down: every reconciliation has a deadline, and only one that exceeds it is
// a reason to restart.
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
	// ReconcileTimeout bounds one reconciliation, including calls to an unavailable API server.
	// It asks a registry, reads a log and writes a few objects, each with a shorter bound.
	ReconcileTimeout = 2 * time.Minute
	// stuckAfter is when a reconciliation that ignores its deadline counts as stuck.
	stuckAfter = 5 * ReconcileTimeout
)

// Watchdog tracks the reconciliations in progress.
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

// Watch wraps a reconciler with a deadline and tracks its reconciliations.
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
			return fmt.Errorf("the reconciliation of %s has been running for %s", run.of, since.Round(time.Second))
		}
	}
	return nil
}

// The timeout of a request to the API server, and how long it may be silent.
const (
	askTimeout   = 2 * time.Second
	silenceLimit = 30 * time.Second
)

// APIServer probes the API server's version.
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

// Check is a healthz.Checker: it fails before the API server's first answer, and once it has
// been silent for too long.
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
