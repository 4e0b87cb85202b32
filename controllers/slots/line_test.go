package slots

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// key reads "namespace/name".
func key(s string) types.NamespacedName {
	namespace, name, _ := strings.Cut(s, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func claimOf(s string, class Class, minute int) Claim {
	return Claim{Key: key(s), Class: class, Since: at(minute)}
}

// drain admits while there is room, and lets every audit end at once.
func drain(l *line, now time.Time) []string {
	var order []string
	for {
		c, ok := l.admit(now)
		if !ok {
			return order
		}
		order = append(order, c.Key.String())
		l.hold(c.Key.Namespace, l.tenants[c.Key.Namespace].active-1)
	}
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		active map[string]int
		served map[string]int // minute
		claims []Claim
		now    int
		want   string
	}{
		{name: "nobody waits"},
		{
			name: "the class counts before everything else",
			claims: []Claim{
				claimOf("a/routine", Routine, 0), claimOf("a/drift", Drifted, 1), claimOf("b/person", Requested, 2), claimOf("a/person", Requested, 3),
			},
			now: 4, want: "b/person a/person a/drift a/routine",
		},
		{
			name:   "a namespace with much does not hold up one with little",
			claims: []Claim{claimOf("a/1", Routine, 0), claimOf("a/2", Routine, 1), claimOf("a/3", Routine, 2), claimOf("b/1", Routine, 3)},
			now:    4, want: "a/1 b/1 a/2 a/3",
		},
		{
			name: "least recently served", served: map[string]int{"a": 3, "b": 2, "c": 4},
			claims: []Claim{claimOf("a/1", Routine, 5), claimOf("b/1", Routine, 7), claimOf("c/1", Routine, 6), claimOf("new/1", Routine, 8)},
			now:    9, want: "new/1 b/1 a/1 c/1",
		},
		{
			name: "fewest active before least recently served", active: map[string]int{"a": 1}, served: map[string]int{"b": 2},
			claims: []Claim{claimOf("a/1", Routine, 0), claimOf("b/1", Routine, 3)},
			now:    4, want: "b/1 a/1",
		},
		{
			name: "a namespace without room does not hold up the class", active: map[string]int{"a": 2},
			claims: []Claim{claimOf("a/1", Requested, 0), claimOf("b/1", Requested, 1), claimOf("b/2", Routine, 2)},
			now:    3, want: "b/1 b/2",
		},
		{
			name: "a class without room does not hold up the next", active: map[string]int{"a": 2},
			claims: []Claim{claimOf("a/1", Requested, 0), claimOf("b/1", Routine, 1)},
			now:    2, want: "b/1",
		},
		{
			name: "no slot", active: map[string]int{"a": 2, "b": 1},
			claims: []Claim{claimOf("c/1", Requested, 0)}, now: 1,
		},
		{
			name: "one of four goes by age",
			claims: []Claim{
				claimOf("a/old", Routine, 0), claimOf("b/1", Requested, 31), claimOf("c/2", Requested, 32),
				claimOf("d/3", Requested, 33), claimOf("e/4", Requested, 34), claimOf("f/5", Requested, 35),
			},
			now: 36, want: "b/1 c/2 d/3 a/old e/4 f/5",
		},
		{
			name: "also within a namespace",
			claims: []Claim{
				claimOf("a/old", Routine, 0), claimOf("a/1", Requested, 31), claimOf("a/2", Requested, 32),
				claimOf("a/3", Requested, 33), claimOf("a/4", Requested, 34), claimOf("a/older", Routine, -1),
			},
			now: 35, want: "a/1 a/2 a/3 a/older a/4 a/old",
		},
		{
			name: "but not before it is old",
			claims: []Claim{
				claimOf("a/young", Routine, 0), claimOf("b/1", Requested, 1), claimOf("c/2", Requested, 2),
				claimOf("d/3", Requested, 3), claimOf("e/4", Requested, 4),
			},
			now: 29, want: "b/1 c/2 d/3 e/4 a/young",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLine(Limits{Total: 3, PerNamespace: 2})
			for namespace, minute := range test.served {
				l.tenant(namespace).served = at(minute)
			}
			for _, c := range test.claims {
				l.put(c)
			}
			for namespace, n := range test.active {
				l.hold(namespace, n)
			}
			if got := strings.Join(drain(l, at(test.now)), " "); got != test.want {
				t.Errorf("admitted %q, want %q", got, test.want)
			}
		})
	}
}

// A person who asks in the middle of a long backlog does not wait for its end.
func TestPersonInBacklog(t *testing.T) {
	l := newLine(Limits{Total: 1, PerNamespace: 1})
	for i := range 500 {
		l.put(claimOf(fmt.Sprintf("team/%03d", i), Routine, 0))
	}
	now := at(24 * 60)
	l.put(Claim{Key: key("team/asked"), Class: Requested, Since: now})
	order := drain(l, now)
	if len(order) != 501 {
		t.Fatalf("%d admitted, want 501", len(order))
	}
	for i, name := range order {
		if name == "team/asked" && i > 1 {
			t.Errorf("admitted as number %d, want among the first two", i+1)
		}
	}
}

func TestClaims(t *testing.T) {
	l := newLine(Limits{Total: 1, PerNamespace: 1})
	l.put(claimOf("a/1", Routine, 0))
	l.put(claimOf("a/2", Routine, 1))
	l.put(claimOf("b/1", Drifted, 2))
	l.put(claimOf("a/1", Routine, 9)) // asks again: it keeps its time
	if got := l.waiting(); got != [classes]int{Drifted: 1, Routine: 2} {
		t.Errorf("waiting = %v", got)
	}
	l.put(claimOf("a/2", Requested, 10)) // is requested meanwhile, and has waited all the same
	l.put(claimOf("a/3", Requested, 3))
	if l.drop(key("b/1")); l.drop(key("b/1")) || l.drop(key("nobody/1")) {
		t.Error("dropped what was not there")
	}
	if got := strings.Join(drain(l, at(11)), " "); got != "a/2 a/3 a/1" {
		t.Errorf("admitted %q", got)
	}
}

func TestForget(t *testing.T) {
	l := newLine(Limits{Total: 2, PerNamespace: 1})
	l.put(claimOf("gone/1", Routine, 0))
	l.put(claimOf("runs/1", Routine, 0))
	drain(l, at(1))
	l.hold("runs", 1)
	l.put(claimOf("runs/2", Routine, 2))
	l.forget(at(2))
	if len(l.tenants) != 2 {
		t.Errorf("%d namespaces after a minute, want 2: it still counts who was served", len(l.tenants))
	}
	l.forget(at(120))
	if len(l.tenants) != 1 || l.tenants["runs"] == nil {
		t.Errorf("namespaces = %v, want only the one that runs", l.tenants)
	}
}

func TestClassOf(t *testing.T) {
	for reason, want := range map[v1alpha1.TriggerReason]string{
		v1alpha1.TriggerRequested: "requested", v1alpha1.TriggerNeverAudited: "requested", v1alpha1.TriggerSpecChanged: "requested",
		v1alpha1.TriggerBaselineChanged: "requested", v1alpha1.TriggerImageChanged: "drift", v1alpha1.TriggerSuppressionExpired: "drift",
		v1alpha1.TriggerRetryDue: "scheduled", v1alpha1.TriggerRulesetChanged: "scheduled", v1alpha1.TriggerScheduleDue: "scheduled",
		v1alpha1.TriggerVerdictExpiring: "scheduled", "Unheard": "scheduled",
	} {
		if got := ClassOf(reason).String(); got != want {
			t.Errorf("ClassOf(%s) = %s, want %s", reason, got, want)
		}
	}
}
