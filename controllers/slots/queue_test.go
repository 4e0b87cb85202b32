package slots

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// bench is a queue with a cache of Pods and a clock.
type bench struct {
	*testing.T
	*Queue
	now   time.Time
	cache []Holder
	woken []string
}

func newBench(t *testing.T, limits Limits) *bench {
	b := &bench{T: t, Queue: New(limits), now: start}
	b.Notify(func(key types.NamespacedName) { b.woken = append(b.woken, key.String()) })
	return b
}

func (b *bench) snapshot() ([]Holder, error) { return b.cache, nil }

// admits asks for a slot, for a Pod of the same name.
func (b *bench) admits(name string, want bool) {
	b.Helper()
	admitted, err := b.Admit(b.now, Claim{Key: key(name), Class: Requested, Since: b.now}, name, b.snapshot)
	if err != nil || admitted != want {
		b.Fatalf("Admit(%s) = %t, %v, want %t", name, admitted, err, want)
	}
}

// creates asks for a slot, gets it and creates the Pod.
func (b *bench) creates(name string) {
	b.Helper()
	b.admits(name, true)
	b.Created(b.now, name, types.UID(name))
}

// shows lets the cache show these Pods, and no others, and tells of the changes.
func (b *bench) shows(pods ...string) {
	b.Helper()
	old := b.cache
	b.cache = nil
	for _, pod := range pods {
		b.cache = append(b.cache, b.holder(pod))
	}
	for _, holder := range append(old, b.cache...) {
		if err := b.Seen(b.now, holder.Pod, holder.UID, b.snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *bench) holder(pod string) Holder {
	return Holder{Pod: pod, UID: types.UID(pod), Namespace: key(pod).Namespace, Until: b.now.Add(time.Hour)}
}

func (b *bench) tend() {
	b.Helper()
	if err := b.Tend(b.now, b.snapshot); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) wakes(want ...string) {
	b.Helper()
	if !reflect.DeepEqual(b.woken, want) {
		b.Errorf("woken %q, want %q", b.woken, want)
	}
	b.woken = nil
}

func (b *bench) active(want int) {
	b.Helper()
	if got := b.Active(); got != want {
		b.Errorf("%d slots are taken, want %d", got, want)
	}
}

func TestSlotIsHeldUntilThePodIsGone(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.creates("a/1")
	b.admits("b/1", false) // though the cache shows no Pod yet
	b.active(1)
	b.shows("a/1")
	b.active(1)
	b.admits("b/1", false)
	b.wakes()
	if got := b.Waiting(); !reflect.DeepEqual(got, map[string]int{"requested": 1, "drift": 0, "scheduled": 0}) || b.Limit() != 1 {
		t.Errorf("Waiting = %v, Limit = %d", got, b.Limit())
	}
	b.shows()
	b.wakes("b/1")
	b.active(1) // reserved
	b.admits("a/2", false)
	b.admits("b/1", true)
	b.active(1)
}

func TestReleaseAdmitsTheNext(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.admits("a/1", true)
	b.admits("b/1", false)
	b.Release(b.now, "a/1")
	b.wakes("b/1")
}

func TestWithdraw(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.creates("a/1")
	for _, name := range []string{"b/1", "c/1", "d/1"} {
		b.admits(name, false)
		b.now = b.now.Add(time.Second)
	}
	b.Withdraw(b.now, key("b/1")) // waits
	b.Withdraw(b.now, key("nobody/1"))
	b.wakes()
	b.shows("a/1")
	b.shows()
	b.wakes("c/1")
	b.Withdraw(b.now, key("c/1")) // was admitted, and does not want to any more
	b.wakes("d/1")
}

func TestLostWakeUp(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.admits("a/1", true)
	b.admits("b/1", false)
	b.admits("c/1", false)
	b.Release(b.now, "a/1")
	b.wakes("b/1")
	b.now = b.now.Add(reservedFor - time.Second)
	b.tend()
	b.wakes()
	b.now = b.now.Add(time.Second)
	b.tend()
	b.wakes("b/1", "c/1") // the one to claim anew, the other because it is its turn
	b.admits("b/1", false)
	b.admits("c/1", true)
}

func TestDeadlineFreesTheSlot(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.creates("a/stuck")
	b.shows("a/stuck")
	b.admits("b/1", false)
	b.now = b.now.Add(time.Hour - time.Second)
	b.tend()
	b.wakes()
	b.now = b.now.Add(time.Second)
	b.tend()
	b.wakes("b/1")
	b.admits("b/1", true)
	b.active(1)
}

// Nobody knows whether the Pod was created: the slot stays taken, the creation
// may be tried again in it, and neither lasts for ever.
func TestCreationOfUnknownOutcome(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.admits("a/1", true)
	b.admits("b/1", false)
	b.now = b.now.Add(attemptFor - time.Second)
	b.admits("a/1", true)
	if b.now = b.now.Add(time.Second); b.Unseen(b.now) {
		t.Error("looks for the Pod at once")
	}
	b.admits("a/1", false)
	b.now = b.now.Add(unseenFor)
	if !b.Unseen(b.now) {
		t.Error("does not look for the Pod")
	}
	b.Census(b.now, nil) // it may still come
	b.wakes()
	b.now = b.now.Add(lateFor)
	b.Census(b.now, nil)
	b.wakes("b/1")

	t.Run("that succeeded", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.admits("a/1", true)
		b.admits("b/1", false)
		live := []Holder{b.holder("a/1")}
		for range 9 {
			b.now = b.now.Add(5 * time.Minute)
			b.Census(b.now, live)
			b.active(1)
		}
		b.now = b.now.Add(15 * time.Minute) // its deadline, though the cache never showed it
		b.Census(b.now, live)
		b.wakes("b/1")
	})
	t.Run("and then a refusal", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.admits("a/1", true)
		b.admits("a/1", true)
		b.admits("b/1", false)
		b.Release(b.now, "a/1") // such as: there is a Pod of that name
		b.active(1)
		b.Census(b.now.Add(lateFor), nil)
		b.wakes("b/1")
	})
}

// What the cache shows, and when, takes no slot twice and frees none too early.
func TestCreationAndTheCache(t *testing.T) {
	t.Run("of a Pod that takes the name of one that is gone", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.creates("a/1")
		b.shows("a/1")
		b.admits("a/1", false) // deleted, which the cache has yet to show: it counts
		b.shows()
		b.wakes("a/1")
		b.admits("a/1", true)
		b.Created(b.now, "a/1", "second")
		b.shows("a/1")
		b.shows() // all news of the first
		b.active(1)
	})
	t.Run("of a Pod that the cache never showed", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.creates("a/1")
		b.admits("a/1", true) // and it is gone: it is created anew
		b.shows("a/1")
		b.shows()
		b.active(1)
	})
	t.Run("of a Pod that the cache shows at once", func(t *testing.T) {
		b := newBench(t, Limits{Total: 2, PerNamespace: 2})
		b.admits("a/1", true)
		b.shows("a/1")
		b.admits("b/1", false) // it could be another one
		b.Created(b.now, "a/1", "a/1")
		b.active(2)
		b.wakes("b/1")
	})
	t.Run("that the cache shows before it is asked again", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.admits("a/1", true)
		b.admits("b/1", false)
		b.shows("a/1")
		b.Found(b.now, "a/1", "a/1")
		b.active(1)
		b.shows()
		b.wakes("b/1")
	})
	t.Run("that is gone before it was seen", func(t *testing.T) {
		b := newBench(t, Limits{Total: 1, PerNamespace: 1})
		b.creates("a/1")
		b.admits("b/1", false)
		if err := b.Seen(b.now, "a/1", "a/1", b.snapshot); err != nil { // the event of the deletion
			t.Fatal(err)
		}
		b.wakes("b/1")
	})
}

func TestRestartCountsWhatTheCacheLacks(t *testing.T) {
	b := newBench(t, Limits{Total: 2, PerNamespace: 1})
	b.Census(b.now, []Holder{b.holder("a/1"), b.holder("orphan")})
	b.active(2)
	b.admits("a/2", false)
	b.admits("b/1", false)
	b.shows("a/1", "orphan")
	b.active(2)
	b.shows("orphan")
	b.wakes("a/2")
	b.shows("orphan", "stranger-1", "stranger-2") // above the limit, as another manager left it
	b.active(4)
}

// TestCensusOfAPodThatGoes: a Pod may be deleted, and the cache show that, between the
// list of a Census and what is made of it.
func TestCensusOfAPodThatGoes(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	b.shows("a/1")
	live := []Holder{b.holder("a/1")}
	b.shows()
	b.Census(b.now, live)
	b.admits("b/1", false)
	if !b.Unseen(b.now) {
		t.Error("the slots are not counted again at the next occasion")
	}
	b.now = b.now.Add(time.Second)
	b.Census(b.now, nil)
	b.wakes("b/1")
}

func TestPause(t *testing.T) {
	b := newBench(t, Limits{Total: 2, PerNamespace: 2})
	b.creates("a/1")
	b.shows("a/1")
	b.admits("a/2", true)
	b.Pause(b.now.Add(time.Minute))
	b.Release(b.now, "a/2")
	b.admits("b/1", false)
	b.now = b.now.Add(59 * time.Second)
	b.tend()
	b.wakes()
	b.shows() // a Pod went away: there is room
	b.wakes("b/1")

	b.Pause(b.now.Add(time.Minute))
	b.admits("c/1", false)
	b.now = b.now.Add(time.Minute)
	b.tend()
	b.wakes("b/1", "c/1") // b/1 never came, see reservedFor
}

func TestUnreadableCache(t *testing.T) {
	b := newBench(t, Limits{Total: 1, PerNamespace: 1})
	broken := func() ([]Holder, error) { return nil, errors.New("not synced") }
	if _, err := b.Admit(b.now, Claim{Key: key("a/1")}, "a/1", broken); err == nil {
		t.Error("admitted without a look at the Pods")
	}
	if err := b.Seen(b.now, "a/1", "a/1", broken); err == nil {
		t.Error("took note of nothing")
	}
	if b.Tend(b.now, broken) == nil {
		t.Error("tended to nothing")
	}
}

// The whole cost of an audit in the queue: it claims, is admitted and woken, has a
// Pod that comes and goes in the cache, while n others wait.
func BenchmarkAudit(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			q := New(Limits{Total: 2, PerNamespace: 1})
			var woken []types.NamespacedName
			q.Notify(func(key types.NamespacedName) { woken = append(woken, key) })
			var pods []Holder
			snapshot := func() ([]Holder, error) { return pods, nil }
			now := start
			ask := func(key types.NamespacedName) {
				pod := key.String()
				switch admitted, err := q.Admit(now, Claim{Key: key, Class: Routine, Since: now}, pod, snapshot); {
				case err != nil:
					b.Fatal(err)
				case admitted:
					pods = append(pods, Holder{Pod: pod, UID: "1", Namespace: key.Namespace, Until: now.Add(time.Hour)})
					_ = q.Seen(now, pod, "1", snapshot)
					q.Created(now, pod, "1")
				}
			}
			for i := range n {
				ask(types.NamespacedName{Namespace: fmt.Sprint("team-", i%50), Name: fmt.Sprint(i)})
			}
			i := n
			for b.Loop() {
				now = now.Add(time.Second)
				gone := pods[0].Pod
				pods = pods[1:]
				_ = q.Seen(now, gone, "1", snapshot)
				for _, key := range woken {
					ask(key)
				}
				woken = woken[:0]
				ask(types.NamespacedName{Namespace: fmt.Sprint("team-", i%50), Name: fmt.Sprint(i)})
				i++
			}
		})
	}
}
