package slots

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// reservedFor is how long a slot is kept for a claim that was woken. It takes
	// that long if all workers wait for registries, or if the wake-up was lost.
	reservedFor = time.Minute
	// attemptFor is for how long the creation of a Pod that ended in nobody knows
	// what may be tried again in the same slot.
	attemptFor = 2 * time.Minute
	// unseenFor is how long a Pod may be missing in the cache before it is looked
	// for past it.
	unseenFor = 30 * time.Second
	// lateFor is how long after an attempt its Pod may still come to be: twice what
	// an API server gives a request.
	lateFor = 2 * time.Minute
)

// Snapshot lists the audit Pods of the cache. It is called under the lock of the
// queue, so that no older answer follows on a newer one.
type Snapshot func() ([]Holder, error)

// Queue is the line, with the slots that are taken. It is safe for concurrent use.
//
// A slot is taken one after the other by a reservation, from the admission until
// the audit is reconciled; by an expectation, from the attempt to create the Pod
// until it is seen in the cache; and by the Pod, until it is gone from the cache
// or its time is over.
type Queue struct {
	mu   sync.Mutex
	line *line
	wake func(types.NamespacedName)

	reserved map[types.NamespacedName]time.Time
	expected map[string]expectation // by the name of the Pod
	pods     map[string]Holder      // of the cache, by name
	paused   time.Time              // nobody is admitted before
}

// expectation is a Pod that exists or may exist, though the cache does not show
// it. It ends when that very Pod is seen: one of the same name may have been there
// before, and the cache may be about to notice.
type expectation struct {
	namespace string
	uid       types.UID // empty while an attempt is under way, or ended in nobody knows what
	again     bool      // the attempt is not the first
	// began is when it was first tried to create it, or found by a Census; tried is when it
	// was last tried to create it, zero if this process did not.
	began, tried time.Time
	// until is when it stops to count; zero if that is not known yet.
	until time.Time
}

// New makes a queue.
func New(limits Limits) *Queue {
	return &Queue{
		line: newLine(limits), wake: func(types.NamespacedName) {},
		reserved: map[types.NamespacedName]time.Time{}, expected: map[string]expectation{}, pods: map[string]Holder{},
	}
}

// Notify sets what wakes an audit that was admitted while it waited. It is called
// under the lock and must not block.
func (q *Queue) Notify(wake func(types.NamespacedName)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake = wake
}

// Admit reports whether the Pod of a claim may be created now. If so, the slot is
// taken until the Pod is gone, or Release says that there is none. If not, the
// claim waits until it is woken or withdrawn. Asking again is no second claim.
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

// Withdraw ends the wait of an audit that does not want to run any more, or
// cannot, and gives back what was reserved for it.
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

// Created says which Pod was created in a slot, or found to be there.
func (q *Queue) Created(now time.Time, pod string, uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, tried := q.expected[pod]; tried {
		q.created(now, pod, e, uid)
	}
}

// Found says which Pod the cache shows of an attempt that ended in nobody knows
// what. After several attempts it could be of any, and only a Census is certain.
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

// Release gives back the slot of a Pod that was certainly not created. If an
// attempt before ended in nobody knows what, only a Census is certain.
func (q *Queue) Release(now time.Time, pod string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.expected[pod].again {
		delete(q.expected, pod)
	}
	q.refill(now)
}

// Pause admits nobody before a time, because nobody's Pod would be accepted. A
// Pod that goes away ends it: what was full is so no more.
func (q *Queue) Pause(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = until
}

// Seen takes note of a Pod that the cache has, or had: it need not be expected
// any more, even if it is gone before anybody looked.
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

// Tend admits whom a lost event or a deadline has let in, and forgets what is of
// no interest any more.
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

// Unseen reports whether a Pod has been missing in the cache for so long that it
// should be looked for by a Census.
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

// Census compares what is expected with the Pods that the API server has, of a
// list that was asked for at a time. What exists is expected in the cache, and
// what does not, and cannot come any more, is given up.
func (q *Queue) Census(asked time.Time, live []Holder) {
	q.mu.Lock()
	defer q.mu.Unlock()
	exists := map[string]bool{}
	for _, holder := range live {
		exists[holder.Pod] = true
		e, known := q.expected[holder.Pod]
		if known && !e.tried.Before(asked) {
			continue // the attempt is younger than the list
		}
		if q.pods[holder.Pod].UID == holder.UID {
			delete(q.expected, holder.Pod)
			continue
		}
		if !known {
			e = expectation{namespace: holder.Namespace, began: asked} // or the cache has shown it go already
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

// Active returns how many slots are taken. It is above Limit where the limit was
// lowered while Pods were running.
func (q *Queue) Active() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.active
}

// Limit returns how many slots there are.
func (q *Queue) Limit() int { return q.line.limits.Total }

// sync takes over what the cache shows.
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

// recount tells the line how many slots each namespace takes.
func (q *Queue) recount(now time.Time) {
	for key, since := range q.reserved {
		if now.Sub(since) >= reservedFor {
			delete(q.reserved, key)
			q.wake(key) // it may claim again, if it is still there
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

// refill gives away what has become free.
func (q *Queue) refill(now time.Time) {
	q.recount(now)
	q.fill(now, types.NamespacedName{})
}

// fill admits as many as there is room for, and wakes them but the one that asks.
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
