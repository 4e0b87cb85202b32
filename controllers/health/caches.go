package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// How long a check waits for the caches, and how often an unavailable API server is retried for
// them.
const (
	syncTimeout  = time.Second
	informPeriod = 2 * time.Second
)

// Informers is the part of cache.Cache that Caches needs.
type Informers interface {
	GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error)
	WaitForCacheSync(ctx context.Context) bool
}

// Caches is a manager.Runnable that fills the caches of every replica, so a new leader starts
// warm.
type Caches struct {
	Informers Informers
	Kinds     []client.Object

	asked atomic.Bool // for all kinds
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *Caches) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. It retries until the API server knows the kinds: the
// manager may start before the CRDs exist.
func (c *Caches) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, informPeriod, true, func(ctx context.Context) (bool, error) {
		for _, kind := range c.Kinds {
			if _, err := c.Informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
				log.FromContext(ctx).Info("Waited for the API server to know a kind", "kind", fmt.Sprintf("%T", kind), "error", err.Error())
				return false, nil
			}
		}
		return true, nil
	})
	c.asked.Store(err == nil)
	return nil // only when the manager stops
}

// Check is a healthz.Checker: it fails until the caches are filled.
func (c *Caches) Check(request *http.Request) error {
	ctx, cancel := context.WithTimeout(request.Context(), syncTimeout)
	defer cancel()
	if !c.asked.Load() || !c.Informers.WaitForCacheSync(ctx) {
		return errors.New("the caches are not filled yet")
	}
	return nil
}
