package imageref_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// TestResolveOfAHangingRegistry: it holds some questions for as long as one may take,
// puts the others off, and is not asked again; another registry is not affected.
func TestResolveOfAHangingRegistry(t *testing.T) {
	blocked := make(chan struct{})
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1); <-blocked }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(blocked) })
	hanging := strings.TrimPrefix(server.URL, "http://")
	healthy := newRegistry(t, "")
	resolver := newResolverFor(t, 2*time.Second, hanging, healthy.host)
	var busy, unreachable atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			switch _, err := resolver.Resolve(t.Context(), hanging+"/a:v1", nil); {
			case errors.Is(err, imageref.ErrBusy):
				busy.Add(1)
			case errors.Is(err, imageref.ErrUnreachable):
				unreachable.Add(1)
			}
		})
	}
	group.Wait()
	if busy.Load()+unreachable.Load() != 20 || asked.Load() == 0 || asked.Load() > 3 {
		t.Errorf("%d questions were put off, %d failed, %d were asked", busy.Load(), unreachable.Load(), asked.Load())
	}
	before := asked.Load()
	_, err := resolver.Resolve(t.Context(), hanging+"/b:v1", nil)
	if !errors.Is(err, imageref.ErrUnreachable) || asked.Load() != before || !strings.Contains(err.Error(), "did not answer a moment ago") {
		t.Errorf("asked again: %v", err)
	}
	if strings.Contains(err.Error(), "/a") {
		t.Errorf("%v names the image of another", err)
	}
	push(t, healthy.host+"/notes:v1", newImage(t, "/notes"))
	patient, err := resolver.Resolve(t.Context(), healthy.host+"/notes:v1", nil)
	if err != nil || patient.Digest == "" {
		t.Errorf("another registry: %v", err)
	}
}

// TestResolveCountsDeadlinesOnly: a caller that is stopped says nothing about the
// registry; one whose patience ends does.
func TestResolveCountsDeadlinesOnly(t *testing.T) {
	blocked, arrived := make(chan struct{}), make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-blocked }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(blocked) })
	image := strings.TrimPrefix(server.URL, "http://") + "/a:v1"
	resolver := newResolverFor(t, time.Hour, strings.TrimPrefix(server.URL, "http://"))
	stopped, stop := context.WithCancel(t.Context())
	go func() { <-arrived; stop() }()
	if _, err := resolver.Resolve(stopped, image, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := resolver.Resolve(impatient, image, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it was not asked again: %v", err)
	}
	if _, err := resolver.Resolve(t.Context(), image, nil); !errors.Is(err, imageref.ErrUnreachable) {
		t.Errorf("it was asked once more: %v", err)
	}
}

// TestResolveGoesOnAfterAnAnswer: a registry that refuses one repository, or sends
// nonsense for it, is well enough to be asked for another.
func TestResolveGoesOnAfterAnAnswer(t *testing.T) {
	fake := newRegistry(t, "")
	resolver := newResolver(t, fake.host)
	push(t, fake.host+"/notes:v1", newImage(t, "/notes"))
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusForbidden, http.StatusNotFound} {
		fake.status.Store(int64(status))
		if _, err := resolver.Resolve(t.Context(), fake.host+"/notes:v1", nil); err == nil {
			t.Fatalf("resolved with status %d", status)
		}
		fake.status.Store(0)
		if _, err := resolver.Resolve(t.Context(), fake.host+"/notes:v1", nil); err != nil {
			t.Errorf("after status %d: %v", status, err)
		}
	}
}

// TestResolveDoesNotKeepLargeImages: what is remembered is bounded in bytes.
func TestResolveDoesNotKeepLargeImages(t *testing.T) {
	fake := newRegistry(t, "")
	resolver := newResolver(t, fake.host)
	push(t, fake.host+"/large:v1", newImage(t, strings.Repeat("a", 100_000)))
	for range 2 {
		before := fake.requests.Load()
		got, err := resolver.Resolve(t.Context(), fake.host+"/large:v1", nil)
		if err != nil || len(got.Entrypoint[0]) != 100_000 {
			t.Fatal(err)
		}
		if n := fake.requests.Load() - before; n < 4 { // the ping, HEAD, manifest and config
			t.Errorf("%d requests: it was remembered", n)
		}
	}
	push(t, fake.host+"/endless:v1", newImage(t, strings.Repeat("a", 3<<20)))
	if _, err := resolver.Resolve(t.Context(), fake.host+"/endless:v1", nil); !errors.Is(err, imageref.ErrUnreachable) {
		t.Errorf("an image config of 3 MiB: %v", err)
	}
	if _, err := resolver.Resolve(t.Context(), fake.host+"/large:v1", nil); err != nil {
		t.Errorf("another image of that registry: %v", err)
	}
}
