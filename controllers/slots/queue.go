package slots

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// reservedFor bounds the reservation of a slot for a woken claim: all workers may be waiting
	// for registries, or the wake-up was lost.
	reservedFor = time.Minute
	// attemptFor bounds the retries of creating a Pod in the same slot after an unknown outcome.
	attemptFor = 2 * time.Minute
	// unseenFor is the time that a Pod may be missing from the cache before a live read.
	unseenFor = 30 * time.Second
	// lateFor is the time after an attempt in which its Pod may still appear: twice the API server's
	// request timeout.
	lateFor = 2 * time.Minute
)

// Snapshot lists the cached audit Pods. It is called under the queue's lock, so results never
// go back in time.
type Snapshot func() ([]Holder, error)

// Queue combines the line and the taken slots. It is safe for concurrent use.
//
// A slot is held in turn by a reservation, from admission to the audit's reconciliation; by an
// expectation, from the attempt to create the Pod until it appears in the cache; and by the
// Pod, until it leaves the cache or exceeds its deadline.
type Queue struct {
	mu   sync.Mutex
	line *line
	wake func(types.NamespacedName)

	reserved map[types.NamespacedName]time.Time
	expected map[string]expectation // by the name of the Pod
	pods     map[string]Holder      // of the cache, by name
	paused   time.Time              // no admissions before
}

// expectation is a Pod that exists or may exist but is not in the cache yet. It ends when that
// very Pod is seen: a previous Pod of the same name may still be in the cache.
type expectation struct {
	namespace string
	uid       types.UID // empty during an attempt, or if its outcome is unknown
	again     bool      // the attempt is not the first
	// began is the first attempt, or when a Census found the Pod; tried is the last attempt,
	// zero if another process made it.
	began, tried time.Time
	// until is when it stops counting; zero if unknown.
	until time.Time
}

// New returns an empty queue.
func New(limits Limits) *Queue {
	return &Queue{
		line: newLine(limits), wake: func(types.NamespacedName) {},
		reserved: map[types.NamespacedName]time.Time{}, expected: map[string]expectation{}, pods: map[string]Holder{},
	}
}

// Notify sets the function that wakes an admitted audit. It is called under the lock and must
// not block.
func (q *Queue) Notify(wake func(types.NamespacedName)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake = wake
}

// Admit reports whether the Pod of a claim may be created now. If so, the slot is taken until
// the Pod is gone or is released. If not, the claim waits until it is woken or withdrawn.
// Repeated calls make no second claim.
func (q *Queue) Admit(now time.Time, claim Claim, pod string, snapshot Snapshot) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.sync(now, snapshot); err != nil {
		return false, err
	}
	if e, tried := q.expected[pod]; tried && now.Sub(e.began) < attemptFor {
		e.uid, e.again, e.tried = "", true, now
		q.expected[pod] = e
		q.withdraw(now, claim.Key)
		return true, nil
	}
	if _, admitted := q.reserved[claim.Key]; !admitted {
		q.line.put(claim)
		q.fill(now, claim.Key)
	}
	if _, admitted := q.reserved[claim.Key]; !admitted {
		return false, nil
	}
	delete(q.reserved, claim.Key)
	q.expected[pod] = expectation{namespace: claim.Key.Namespace, began: now, tried: now}
	return true, nil
}

// Withdraw removes an audit that cannot run or no longer wants to, and releases its
// reservation.
func (q *Queue) Withdraw(now time.Time, key types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.withdraw(now, key)
}

func (q *Queue) withdraw(now time.Time, key types.NamespacedName) {
	_, admitted := q.reserved[key]
	delete(q.reserved, key)
	if !q.line.drop(key) && !admitted {
		return
	}
	q.refill(now)
}

// Created records the Pod that was created in a slot, or found to exist.
func (q *Queue) Created(now time.Time, pod string, uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, tried := q.expected[pod]; tried {
		q.created(now, pod, e, uid)
	}
}

// Found records the cached Pod of an attempt with unknown outcome. After several attempts it
// could belong to any; only a Census is certain.
func (q *Queue) Found(now time.Time, pod string, uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, tried := q.expected[pod]; tried && !e.again {
		q.created(now, pod, e, uid)
	}
}

func (q *Queue) created(now time.Time, pod string, e expectation, uid types.UID) {
	e.uid = uid
	q.expected[pod] = e
	if q.pods[pod].UID == uid {
		delete(q.expected, pod)
	}
	q.refill(now)
}

// Release frees the slot of a Pod that was certainly not created. After an earlier attempt with
// unknown outcome, only a Census is certain.
func (q *Queue) Release(now time.Time, pod string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.expected[pod].again {
		delete(q.expected, pod)
	}
	q.refill(now)
}

// Pause stops admissions until a time, because no Pod would be accepted. It ends when a Pod
// goes away, which may free quota.
func (q *Queue) Pause(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = until
}

// Seen records a Pod from the cache, which ends its expectation, even if it is already gone.
func (q *Queue) Seen(now time.Time, pod string, uid types.UID, snapshot Snapshot) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.sync(now, snapshot); err != nil {
		return err
	}
	if q.expected[pod].uid == uid {
		delete(q.expected, pod)
	}
	q.refill(now)
	return nil
}

// Tend admits claims after lost events and deadlines, and forgets stale state.
func (q *Queue) Tend(now time.Time, snapshot Snapshot) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.sync(now, snapshot); err != nil {
		return err
	}
	q.line.forget(now)
	q.fill(now, types.NamespacedName{})
	return nil
}

// Unseen reports whether a Pod has been missing from the cache for so long that a Census is
// due.
func (q *Queue) Unseen(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.expected {
		if now.Sub(e.tried) >= unseenFor {
			return true
		}
	}
	return false
}

// Census compares the expectations with the Pods of a live list requested at a time. Existing
// Pods are expected in the cache; missing ones that cannot appear any more are given up.
func (q *Queue) Census(asked time.Time, live []Holder) {
	q.mu.Lock()
	defer q.mu.Unlock()
	exists := map[string]bool{}
	for _, holder := range live {
		exists[holder.Pod] = true
		e, known := q.expected[holder.Pod]
		if known && !e.tried.Before(asked) {
			continue // the attempt is newer than the list
		}
		if q.pods[holder.Pod].UID == holder.UID {
			delete(q.expected, holder.Pod)
			continue
		}
		if !known {
			e = expectation{namespace: holder.Namespace, began: asked} // the cache may already have shown its deletion
		}
		e.uid, e.until = holder.UID, holder.Until
		q.expected[holder.Pod] = e
	}
	for pod, e := range q.expected {
		existed := e.uid != "" && e.tried.Before(asked)
		if !exists[pod] && (existed || asked.Sub(e.tried) >= lateFor) {
			delete(q.expected, pod)
		}
	}
	q.refill(asked)
}

// Waiting returns how many audits wait, by class.
func (q *Queue) Waiting() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	count := map[string]int{}
	for class, n := range q.line.waiting() {
		count[Class(class).String()] = n
	}
	return count
}

// Active returns the number of taken slots. It exceeds Limit after the limit was lowered.
func (q *Queue) Active() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.active
}

// Limit returns the number of slots.
func (q *Queue) Limit() int { return q.line.limits.Total }

// sync applies the state of the cache.
func (q *Queue) sync(now time.Time, snapshot Snapshot) error {
	holders, err := snapshot()
	if err != nil {
		return err
	}
	pods := make(map[string]Holder, len(holders))
	for _, holder := range holders {
		pods[holder.Pod] = holder
		if q.expected[holder.Pod].uid == holder.UID {
			delete(q.expected, holder.Pod)
		}
	}
	for pod := range q.pods {
		if _, exists := pods[pod]; !exists {
			q.paused = time.Time{}
		}
	}
	q.pods = pods
	q.recount(now)
	return nil
}

// recount updates the line's slots by namespace.
func (q *Queue) recount(now time.Time) {
	for key, since := range q.reserved {
		if now.Sub(since) >= reservedFor {
			delete(q.reserved, key)
			q.wake(key) // it may claim again, if it still exists
		}
	}
	active := map[string]int{}
	for key := range q.reserved {
		active[key.Namespace]++
	}
	for _, e := range q.expected {
		if e.until.IsZero() || e.until.After(now) {
			active[e.namespace]++
		}
	}
	for _, holder := range q.pods {
		if holder.Until.After(now) {
			active[holder.Namespace]++
		}
	}
	for namespace := range q.line.busy {
		if active[namespace] == 0 {
			q.line.hold(namespace, 0)
		}
	}
	for namespace, n := range active {
		q.line.hold(namespace, n)
	}
}

// refill admits claims to free slots.
func (q *Queue) refill(now time.Time) {
	q.recount(now)
	q.fill(now, types.NamespacedName{})
}

// fill admits claims while there is room, and wakes all but the one that asks.
func (q *Queue) fill(now time.Time, asking types.NamespacedName) {
	for !now.Before(q.paused) {
		claim, ok := q.line.admit(now)
		if !ok {
			return
		}
		q.reserved[claim.Key] = now
		if claim.Key != asking {
			q.wake(claim.Key)
		}
	}
}
