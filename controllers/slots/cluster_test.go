package slots

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// cluster is an API server with a manager whose cache lags, and whose requests
// fail in every way.
type cluster struct {
	*testing.T
	random *rand.Rand
	limits Limits
	queue  *Queue
	now    time.Time

	waits   map[types.NamespacedName]bool // audits that want to run
	live    map[string]Holder             // the Pods
	cache   map[string]Holder
	events  []func(*cluster) // that the cache has yet to see
	woken   map[types.NamespacedName]bool
	made    int
	existed map[string]bool  // Pods that there ever were
	late    []func(*cluster) // requests that the manager has given up, and the API server has not
}

// restart starts a manager anew: it knows no more than the cache has, and counts.
func (c *cluster) restart() {
	c.queue, c.late = New(c.limits), nil
	c.queue.Notify(func(key types.NamespacedName) { c.woken[key] = true })
	c.woken = map[types.NamespacedName]bool{}
	for key := range c.waits {
		c.woken[key] = true // everything is reconciled once
	}
	c.queue.Census(c.now, slices.Collect(maps.Values(c.live)))
}

func (c *cluster) snapshot() ([]Holder, error) { return slices.Collect(maps.Values(c.cache)), nil }

// reconcile asks for a slot and creates the Pod, which may go wrong.
func (c *cluster) reconcile(key types.NamespacedName) {
	delete(c.woken, key)
	pod := key.String()
	admitted, err := c.queue.Admit(c.now, Claim{Key: key, Class: Class(c.random.IntN(classes)), Since: c.now}, pod, c.snapshot)
	if err != nil {
		c.Fatal(err)
	}
	if !admitted {
		return
	}
	if there, exists := c.live[pod]; exists { // found past the cache
		c.queue.Created(c.now, pod, there.UID)
		delete(c.waits, key)
		return
	}
	switch c.random.IntN(10) {
	case 0: // refused
		c.queue.Release(c.now, pod)
		c.woken[key] = true
	case 3: // timed out, and will yet come
		given := c.now
		c.late = append(c.late, func(c *cluster) {
			if c.now.Sub(given) <= time.Minute && !c.existed[pod] { // two requests of one name overtake each other, but not a whole audit
				c.create(key)
			}
		})
		c.woken[key] = true
	case 1: // timed out, and nothing came of it
		c.woken[key] = true
	case 2: // timed out, and there it is
		c.create(key)
		c.woken[key] = true
	default:
		c.create(key)
		c.queue.Created(c.now, pod, c.live[pod].UID)
		delete(c.waits, key)
	}
}

func (c *cluster) create(key types.NamespacedName) {
	pod := key.String()
	if _, exists := c.live[pod]; exists || !c.waits[key] {
		return
	}
	c.made++
	holder := Holder{Pod: pod, UID: types.UID(fmt.Sprint(c.made)), Namespace: key.Namespace, Until: c.now.Add(24 * time.Hour)}
	c.live[pod], c.existed[pod] = holder, true
	c.events = append(c.events, func(c *cluster) { c.cache[pod] = holder; c.seen(holder) })
}

func (c *cluster) remove(pod string) {
	holder := c.live[pod]
	delete(c.live, pod)
	c.events = append(c.events, func(c *cluster) { delete(c.cache, pod); c.seen(holder) })
}

func (c *cluster) seen(pod Holder) {
	if err := c.queue.Seen(c.now, pod.Pod, pod.UID, c.snapshot); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) step() {
	c.now = c.now.Add(time.Duration(c.random.IntN(20)) * time.Second)
	if len(c.late) > 0 && c.random.IntN(3) == 0 || len(c.late) > 1 {
		c.late[0](c)
		c.late = c.late[1:]
	}
	switch c.random.IntN(8) {
	case 0, 1:
		c.made++
		key := types.NamespacedName{Namespace: fmt.Sprint("team-", c.random.IntN(4)), Name: fmt.Sprint(c.made)}
		c.waits[key] = true
		c.reconcile(key)
	case 2, 3:
		c.reconcileWoken()
	case 4:
		if pods := slices.Sorted(maps.Keys(c.live)); len(pods) > 0 {
			c.remove(pods[c.random.IntN(len(pods))])
		}
	case 5, 6:
		if len(c.events) > 0 {
			next := c.events[0]
			c.events = c.events[1:]
			next(c)
		}
	case 7:
		c.tend()
		if c.random.IntN(20) == 0 {
			c.restart()
		}
	}
	c.check()
}

func (c *cluster) reconcileWoken() {
	for _, key := range slices.SortedFunc(maps.Keys(c.woken), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		if c.waits[key] {
			c.reconcile(key)
			return
		}
		c.queue.Withdraw(c.now, key)
		delete(c.woken, key)
	}
}

func (c *cluster) tend() {
	if c.queue.Unseen(c.now) {
		c.queue.Census(c.now, slices.Collect(maps.Values(c.live)))
	}
	if err := c.queue.Tend(c.now, c.snapshot); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) check() {
	count := map[string]int{}
	for _, holder := range c.live {
		if count[holder.Namespace]++; count[holder.Namespace] > c.limits.PerNamespace {
			c.Fatalf("%d Pods of %s, limit %d", count[holder.Namespace], holder.Namespace, c.limits.PerNamespace)
		}
	}
	if len(c.live) > c.limits.Total {
		c.Fatalf("%d Pods, limit %d", len(c.live), c.limits.Total)
	}
}

// TestLimitsHold is about a cluster in which everything goes wrong that can: the
// limits are never exceeded, and everything that waits runs in the end.
func TestLimitsHold(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			c := &cluster{
				T: t, random: random, now: start, limits: Limits{Total: 1 + random.IntN(4), PerNamespace: 1 + random.IntN(2)},
				waits: map[types.NamespacedName]bool{}, live: map[string]Holder{}, cache: map[string]Holder{}, existed: map[string]bool{},
			}
			c.restart()
			for range 600 {
				c.step()
			}
			for round := 0; len(c.waits) > 0; round++ {
				if round > 20000 {
					t.Fatalf("%d of %d never ran; %d slots of %d taken, %d Pods", len(c.waits), c.made, c.queue.Active(), c.limits.Total, len(c.live))
				}
				c.now = c.now.Add(10 * time.Second)
				c.tend()
				c.reconcileWoken()
				for pod := range c.live {
					c.remove(pod)
				}
				for _, event := range c.events {
					event(c)
				}
				c.events = nil
				c.check()
			}
		})
	}
}
