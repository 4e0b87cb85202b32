package slots

import (
	"cmp"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Admission by age: one admission in ageShare goes to the oldest claim, if it has waited for
// ageAfter.
const (
	ageShare = 4
	ageAfter = 30 * time.Minute
)

// forgetAfter is the retention of an idle namespace's last admission.
const forgetAfter = time.Hour

// line is the state of waiting and running audits. It has neither clock nor lock, and is
// deterministic. Changes and decisions cost O(log n) in the waiting claims.
type line struct {
	limits  Limits
	claims  map[types.NamespacedName]*claim
	tenants map[string]*tenant
	// ready has, by class, the namespaces with claims of that class, in the order of admission,
	// those without room last. byAge has all with claims.
	ready [classes]ordered[*tenant]
	byAge ordered[*tenant]
	// active is the number of taken slots, and turns that of admissions since the last by age.
	active, turns int
	// busy has the namespaces with taken slots.
	busy map[string]bool
}

// claim is a waiting Claim.
type claim struct {
	Claim
	place int
}

type tenant struct {
	name   string
	claims [classes]ordered[*claim]
	active int
	turns  int
	served time.Time
	// places has the positions in the line's heaps, that by age last.
	places [classes + 1]int
}

func newLine(limits Limits) *line {
	l := &line{limits: limits, claims: map[types.NamespacedName]*claim{}, tenants: map[string]*tenant{}, busy: map[string]bool{}}
	for class := range l.ready {
		l.ready[class] = ordered[*tenant]{
			less:  func(a, b *tenant) bool { return l.before(a, b, class) },
			place: func(t *tenant) *int { return &t.places[class] },
		}
	}
	l.byAge = ordered[*tenant]{
		less: func(a, b *tenant) bool {
			if l.room(a) != l.room(b) {
				return l.room(a)
			}
			return a.oldest().before(b.oldest())
		},
		place: func(t *tenant) *int { return &t.places[classes] },
	}
	return l
}

// before orders two namespaces with claims of a class. Fewest active first also puts those
// without room last.
func (l *line) before(a, b *tenant, class int) bool {
	if c := cmp.Or(cmp.Compare(a.active, b.active), a.served.Compare(b.served)); c != 0 {
		return c < 0
	}
	x, _ := a.claims[class].first()
	y, _ := b.claims[class].first()
	return x.before(y)
}

// before orders two claims by age, then by name for a total order.
func (c *claim) before(other *claim) bool {
	return cmp.Or(c.Since.Compare(other.Since),
		cmp.Compare(c.Key.Namespace, other.Key.Namespace), cmp.Compare(c.Key.Name, other.Key.Name)) < 0
}

func (l *line) room(t *tenant) bool { return t.active < l.limits.PerNamespace }

// oldest returns the claim of a namespace that has waited longest, or nil.
func (t *tenant) oldest() *claim {
	var oldest *claim
	for class := range t.claims {
		if c, ok := t.claims[class].first(); ok && (oldest == nil || c.before(oldest)) {
			oldest = c
		}
	}
	return oldest
}

// put adds a claim. A waiting one keeps its time, even if its class changes.
func (l *line) put(new Claim) {
	if c := l.claims[new.Key]; c != nil {
		if c.Class == new.Class {
			return
		}
		new.Since = c.Since
		l.drop(new.Key)
	}
	t := l.tenant(new.Key.Namespace)
	c := &claim{Claim: new}
	l.claims[new.Key] = c
	t.claims[new.Class].fix(c)
	l.rank(t)
}

// drop removes a claim, and reports whether it existed.
func (l *line) drop(key types.NamespacedName) bool {
	c := l.claims[key]
	if c == nil {
		return false
	}
	t := l.tenants[key.Namespace]
	delete(l.claims, key)
	t.claims[c.Class].remove(c)
	l.rank(t)
	return true
}

// admit removes the next admissible claim from the line and takes its slot.
func (l *line) admit(now time.Time) (Claim, bool) {
	c, byAge := l.next(now)
	if c == nil {
		return Claim{}, false
	}
	t := l.tenants[c.Key.Namespace]
	l.turns++
	if byAge {
		l.turns = 0
	}
	t.turns++
	if c == t.oldest() && aged(c, now) {
		t.turns = 0
	}
	t.served = now
	l.hold(t.name, t.active+1)
	l.drop(c.Key)
	return c.Claim, true
}

func (l *line) next(now time.Time) (next *claim, byAge bool) {
	if l.active >= l.limits.Total {
		return nil, false
	}
	if t, ok := l.byAge.first(); ok && l.turns >= ageShare-1 && l.room(t) && aged(t.oldest(), now) {
		return t.oldest(), true
	}
	for class := range l.ready {
		t, ok := l.ready[class].first()
		if !ok || !l.room(t) {
			continue
		}
		if oldest := t.oldest(); t.turns >= ageShare-1 && aged(oldest, now) {
			return oldest, false
		}
		c, _ := t.claims[class].first()
		return c, false
	}
	return nil, false
}

func aged(c *claim, now time.Time) bool { return now.Sub(c.Since) >= ageAfter }

// hold sets the number of slots that a namespace takes.
func (l *line) hold(namespace string, active int) {
	t := l.tenant(namespace)
	if active == t.active {
		return
	}
	l.active += active - t.active
	t.active = active
	l.busy[namespace] = true
	if active == 0 {
		delete(l.busy, namespace)
	}
	l.rank(t)
}

// rank updates the positions of a changed namespace.
func (l *line) rank(t *tenant) {
	for class := range l.ready {
		if _, waits := t.claims[class].first(); waits {
			l.ready[class].fix(t)
		} else {
			l.ready[class].remove(t)
		}
	}
	if t.oldest() != nil {
		l.byAge.fix(t)
	} else {
		l.byAge.remove(t)
	}
}

func (l *line) tenant(namespace string) *tenant {
	t := l.tenants[namespace]
	if t == nil {
		t = &tenant{name: namespace}
		for class := range t.claims {
			t.claims[class] = ordered[*claim]{
				less:  func(a, b *claim) bool { return a.before(b) },
				place: func(c *claim) *int { return &c.place },
			}
		}
		l.tenants[namespace] = t
	}
	return t
}

// forget drops namespaces without relevant state.
func (l *line) forget(now time.Time) {
	maps.DeleteFunc(l.tenants, func(_ string, t *tenant) bool {
		return t.active == 0 && t.oldest() == nil && now.Sub(t.served) >= forgetAfter
	})
}

// waiting counts the claims by class.
func (l *line) waiting() [classes]int {
	var count [classes]int
	for _, c := range l.claims {
		count[c.Class]++
	}
	return count
}
