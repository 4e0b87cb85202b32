package slots

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// plain is the same decision as the line, written down without thought of its
// cost: sorted lists of all claims.
type plain struct {
	limits        Limits
	claims        map[types.NamespacedName]Claim
	active, turns map[string]int
	served        map[string]time.Time
	total, all    int // slots taken; admissions since the last one by age
}

func (p *plain) byAge(a, b Claim) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
}

// sorted are the claims that pass, in an order.
func (p *plain) sorted(pass func(Claim) bool, order func(a, b Claim) int) []Claim {
	var list []Claim
	for _, c := range p.claims {
		if pass(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, order)
	return list
}

// oldest is the claim of a namespace that has waited longest, if that is long.
func (p *plain) oldest(namespace string, now time.Time) (Claim, bool) {
	list := p.sorted(func(c Claim) bool { return c.Key.Namespace == namespace }, p.byAge)
	return list[0], now.Sub(list[0].Since) >= ageAfter
}

func (p *plain) next(now time.Time) (next Claim, byAge, ok bool) {
	room := func(c Claim) bool {
		return p.total < p.limits.Total && p.active[c.Key.Namespace] < p.limits.PerNamespace
	}
	if list := p.sorted(room, p.byAge); len(list) == 0 {
		return Claim{}, false, false
	} else if p.all >= ageShare-1 && now.Sub(list[0].Since) >= ageAfter {
		return list[0], true, true
	}
	list := p.sorted(room, func(a, b Claim) int {
		x, y := a.Key.Namespace, b.Key.Namespace
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(p.active[x], p.active[y]), p.served[x].Compare(p.served[y]), p.byAge(a, b))
	})
	namespace := list[0].Key.Namespace
	if old, aged := p.oldest(namespace, now); aged && p.turns[namespace] >= ageShare-1 {
		return old, false, true
	}
	return list[0], false, true
}

func (p *plain) admit(now time.Time) (Claim, bool) {
	c, byAge, ok := p.next(now)
	if !ok {
		return Claim{}, false
	}
	namespace := c.Key.Namespace
	p.all++
	if byAge {
		p.all = 0
	}
	p.turns[namespace]++
	if old, aged := p.oldest(namespace, now); aged && old == c {
		p.turns[namespace] = 0
	}
	p.served[namespace] = now
	p.active[namespace]++
	p.total++
	delete(p.claims, c.Key)
	return c, true
}

// TestDecisions compares the line with its plain form, over random histories.
func TestDecisions(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		limits := Limits{Total: 1 + random.IntN(4), PerNamespace: 1 + random.IntN(2)}
		l := newLine(limits)
		p := &plain{limits: limits, claims: map[types.NamespacedName]Claim{}, active: map[string]int{}, turns: map[string]int{}, served: map[string]time.Time{}}
		now := start
		var running []string
		for range 400 {
			now = now.Add(time.Duration(random.IntN(240)) * time.Second)
			name := types.NamespacedName{Namespace: fmt.Sprint("team-", random.IntN(5)), Name: fmt.Sprint(random.IntN(12))}
			switch random.IntN(5) {
			case 0, 1, 2:
				c := Claim{Key: name, Class: Class(random.IntN(classes)), Since: now}
				l.put(c)
				if known, waits := p.claims[name]; waits {
					c.Since = known.Since
				}
				p.claims[name] = c
			case 3:
				l.drop(name)
				delete(p.claims, name)
			case 4:
				if len(running) > 0 {
					i := random.IntN(len(running))
					namespace := running[i]
					running = slices.Delete(running, i, i+1)
					p.active[namespace]--
					p.total--
					l.hold(namespace, p.active[namespace])
				}
			}
			for {
				want, more := p.admit(now)
				got, also := l.admit(now)
				if got != want || also != more {
					t.Fatalf("seed %d: admitted %v %t, want %v %t", seed, got, also, want, more)
				}
				if !more {
					break
				}
				running = append(running, want.Key.Namespace)
			}
			if l.active != len(running) || l.active > limits.Total {
				t.Fatalf("seed %d: %d active, of %d, limit %d", seed, l.active, len(running), limits.Total)
			}
		}
	}
}

// TestNobodyStarves lets people ask for more than there is room for, for ever,
// from old namespaces and from ever new ones.
func TestNobodyStarves(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		limits := Limits{Total: 1 + random.IntN(3), PerNamespace: 1 + random.IntN(2)}
		l := newLine(limits)
		patient := map[types.NamespacedName]bool{key("busy/routine"): true, key("busy/drift"): true, key("quiet/routine"): true}
		l.put(claimOf("busy/routine", Routine, 0))
		l.put(claimOf("busy/drift", Drifted, 0))
		l.put(claimOf("quiet/routine", Routine, 0))
		type run struct {
			namespace string
			ends      time.Time
		}
		var running []run
		for minute := 0; len(patient) > 0; minute++ {
			now := at(minute)
			if minute > 120 {
				t.Fatalf("seed %d: %v still wait after two hours", seed, patient)
			}
			for i := range 3 * limits.Total {
				namespace := "busy"
				if random.IntN(2) == 0 {
					namespace = fmt.Sprint("new-", minute, "-", i)
				}
				l.put(Claim{Key: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(minute, "-", i)}, Class: Requested, Since: now})
			}
			running = slices.DeleteFunc(running, func(r run) bool {
				if r.ends.After(now) {
					return false
				}
				l.hold(r.namespace, l.tenants[r.namespace].active-1)
				return true
			})
			for c, ok := l.admit(now); ok; c, ok = l.admit(now) {
				delete(patient, c.Key)
				running = append(running, run{c.Key.Namespace, now.Add(time.Duration(1+random.IntN(5)) * time.Minute)})
			}
		}
	}
}

// The cost of an admission, with the claim that takes the place of the admitted
// one, does not depend on how many wait.
func BenchmarkAdmission(b *testing.B) {
	for _, n := range []int{100, 1000, 5000, 50000} {
		for _, namespaces := range []int{1, 50, n} {
			b.Run(fmt.Sprintf("waiting=%d/namespaces=%d", n, namespaces), func(b *testing.B) {
				l := newLine(Limits{Total: 2, PerNamespace: 1})
				for i := range n {
					l.put(Claim{
						Key:   types.NamespacedName{Namespace: fmt.Sprint("team-", i%namespaces), Name: fmt.Sprint(i)},
						Class: Class(i % classes), Since: start.Add(time.Duration(i) * time.Second),
					})
				}
				b.ReportAllocs()
				now := at(10)
				for b.Loop() {
					now = now.Add(time.Second)
					c, ok := l.admit(now)
					if !ok {
						b.Fatal("nobody was admitted")
					}
					l.hold(c.Key.Namespace, 0)
					c.Since = now
					l.put(c)
				}
			})
		}
	}
}
