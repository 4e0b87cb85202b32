package health_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/controllers/health"
)

func TestWatchdog(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	watchdog := health.NewWatchdog(clock)
	entered, leave := make(chan context.Context), make(chan struct{})
	watched := watchdog.Watch(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		entered <- ctx
		<-leave
		return reconcile.Result{RequeueAfter: time.Second}, errors.New("as it is")
	}))
	done := make(chan struct{})
	start := func() context.Context {
		go func() {
			result, err := watched.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "notes"}})
			if result.RequeueAfter != time.Second || err == nil || err.Error() != "as it is" {
				t.Errorf("Reconcile = %v, %v, want what the reconciler said", result, err)
			}
			done <- struct{}{}
		}()
		return <-entered
	}
	alive := func(want bool, when string) {
		t.Helper()
		if err := watchdog.Check(nil); (err == nil) != want {
			t.Errorf("%s: %v, want alive = %t", when, err, want)
		}
	}

	alive(true, "with nothing to do")
	if _, bounded := start().Deadline(); !bounded {
		t.Error("the reconciliation has no deadline")
	}
	clock.SetTime(clock.Now().Add(health.ReconcileTimeout))
	alive(true, "at the deadline of a reconciliation, which has to notice")
	start()
	clock.SetTime(clock.Now().Add(5 * health.ReconcileTimeout))
	alive(false, "long after it")
	close(leave)
	<-done
	<-done
	alive(true, "once it has ended after all")
}

// informers know their kinds after a number of failures, and are filled or not.
type informers struct {
	failures int
	filled   bool
}

func (i *informers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	if i.failures--; i.failures >= 0 {
		return nil, errors.New("no route to host")
	}
	return nil, nil
}

func (i *informers) WaitForCacheSync(ctx context.Context) bool {
	if !i.filled {
		<-ctx.Done()
	}
	return i.filled
}

func TestCaches(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	behind := &informers{failures: 1, filled: true}
	caches := &health.Caches{Informers: behind, Kinds: []client.Object{&corev1.Pod{}, &corev1.Secret{}}}
	if caches.Check(request) == nil {
		t.Error("ready before anything was asked for")
	}
	if err := caches.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := caches.Check(request); err != nil || behind.failures != -2 {
		t.Errorf("after %d questions: %v, want one that fails and then one for each kind", 1-behind.failures, err)
	}
	behind.filled = false
	if caches.Check(request) == nil {
		t.Error("ready while the caches are filling")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	never := &health.Caches{Informers: &informers{failures: 1 << 30, filled: true}, Kinds: caches.Kinds}
	if err := never.Start(stopped); err != nil || never.Check(request) == nil {
		t.Errorf("stopped before the API server was there: %v, and ready", err)
	}
}

func TestAPIServer(t *testing.T) {
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() || r.URL.Path != "/version" {
			http.Error(w, "down", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	checked := health.NewAPIServer(clients.Discovery().RESTClient(), clock)
	for _, step := range []struct {
		name  string
		down  bool
		after time.Duration
		want  bool
	}{
		{"that has not answered yet", true, 0, false},
		{"that answers", false, 0, true},
		{"that has been silent for a moment", true, 10 * time.Second, true},
		{"that has been silent for long", true, 25 * time.Second, false},
		{"that is back", false, 0, true},
	} {
		down.Store(step.down)
		clock.SetTime(clock.Now().Add(step.after))
		err := checked.Check(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		if (err == nil) != step.want {
			t.Errorf("an API server %s: %v, want ready = %t", step.name, err, step.want)
		}
	}
}
