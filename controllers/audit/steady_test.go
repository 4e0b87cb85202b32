package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// fleet is a world with many audits, all decided at the beginning of the day.
type fleet struct {
	*world
	keys []client.ObjectKey
	due  map[client.ObjectKey]time.Time // when the manager wants to look again
	made []time.Time                    // when audits were made
}

func newFleet(t *testing.T, size int, change func(*v1alpha1.MCPServerAudit)) *fleet {
	t.Helper()
	f := &fleet{world: newWorld(t), due: map[client.ObjectKey]time.Time{}}
	f.outcome = observed("1")
	f.audited("")
	first := f.audit()
	for i := range size {
		audit := first.DeepCopy()
		audit.Name, audit.UID, audit.ResourceVersion = fmt.Sprintf("server-%d", i), types.UID(fmt.Sprintf("0f7c2a-%d", i)), ""
		change(audit)
		now := metav1.NewTime(f.clock.Now())
		audit.Status.LastAuditTime = &now
		if err := f.api.Create(t.Context(), audit); err != nil {
			t.Fatal(err)
		}
		f.keys = append(f.keys, client.ObjectKeyFromObject(audit))
	}
	f.begin()
	return f
}

// begin starts a manager with room for all, which looks at everything once.
func (f *fleet) begin() {
	f.start()
	f.manager.Options.ImageCheckInterval = 4 * time.Hour
	f.manager.Slots = slots.New(slots.Limits{Total: len(f.keys), PerNamespace: len(f.keys)})
	for _, key := range f.keys {
		f.look(key)
	}
}

// look reconciles an audit, and lets its Pod end if it gets one.
func (f *fleet) look(key client.ObjectKey) {
	f.t.Helper()
	f.key = key
	for range 4 {
		pods := len(f.created)
		outcome, err := f.manager.Reconcile(f.t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			f.t.Fatal(err)
		}
		delete(f.due, key)
		if outcome.RequeueAfter > 0 {
			f.due[key] = f.clock.Now().Add(outcome.RequeueAfter)
		}
		if len(f.created) == pods {
			return
		}
		f.made = append(f.made, f.clock.Now())
		f.finish()
	}
}

// live plays a time, with a resync every ten hours.
func (f *fleet) live(length time.Duration) {
	f.t.Helper()
	end, resync := f.clock.Now().Add(length), f.clock.Now().Add(10*time.Hour)
	for {
		next := resync
		var ready []client.ObjectKey
		for _, key := range f.keys {
			switch at, waits := f.due[key]; {
			case !waits || at.After(next):
			case at.Before(next):
				next, ready = at, []client.ObjectKey{key}
			default:
				ready = append(ready, key)
			}
		}
		if next.After(end) {
			f.clock.SetTime(end)
			return
		}
		f.clock.SetTime(next)
		if next.Equal(resync) {
			ready, resync = f.keys, resync.Add(10*time.Hour)
		}
		for _, key := range ready {
			f.look(key)
		}
	}
}

// versions are the resource versions of all audits.
func (f *fleet) versions() map[string]string {
	versions := map[string]string{}
	for _, audit := range list(f.world, &v1alpha1.MCPServerAuditList{}, "").Items {
		versions[audit.Name] = audit.ResourceVersion
	}
	return versions
}

func (f *fleet) writes() []call {
	return slices.DeleteFunc(slices.Clone(f.calls), func(c call) bool { return !c.writes() })
}

// TestSteadyStateWritesNothing lives through a day of resyncs and of questions to the
// registry, with a restart of the manager in the middle.
func TestSteadyStateWritesNothing(t *testing.T) {
	const fleetSize = 1000
	f := newFleet(t, fleetSize, func(*v1alpha1.MCPServerAudit) {})
	before := f.versions()
	f.calls = nil
	f.live(12 * time.Hour)
	f.begin()
	f.live(12 * time.Hour)
	if writes := f.writes(); len(writes) > 0 {
		t.Errorf("%d writes in a day in which nothing changed, such as %s", len(writes), writes[0])
	}
	if len(f.calls) < 5*fleetSize {
		t.Errorf("%d calls: the fleet was not looked at", len(f.calls))
	}
	for name, version := range f.versions() {
		if before[name] != version {
			t.Fatalf("%s has resource version %s, had %s", name, version, before[name])
		}
	}
}

// TestSchedulesFireOnce lives through a day of a daily schedule, with a restart: each
// server is audited once, and within the ten minutes of the jitter they are spread.
func TestSchedulesFireOnce(t *testing.T) {
	const fleetSize = 200
	f := newFleet(t, fleetSize, func(a *v1alpha1.MCPServerAudit) {
		a.Namespace = a.Name // which keeps the lists of the fake API server short
		a.Spec.Schedule, a.Spec.Server.ImagePullSecrets = &v1alpha1.Schedule{Cron: "0 20 * * *"}, nil
	})
	f.calls, f.made = nil, nil
	f.live(12 * time.Hour)
	if writes := f.writes(); len(writes) > 0 {
		t.Errorf("%d writes before anything was due, such as %s", len(writes), writes[0])
	}
	f.begin()
	f.live(12 * time.Hour)
	if len(f.made) != fleetSize {
		t.Fatalf("%d audits were made of %d servers in a day", len(f.made), fleetSize)
	}
	var spread [10]int
	fire := time.Date(2026, 1, 2, 20, 0, 0, 0, time.UTC)
	for _, at := range f.made {
		minute := int(at.Sub(fire) / time.Minute)
		if at.Before(fire) || minute >= len(spread) {
			t.Fatalf("an audit began at %s", at)
		}
		spread[minute]++
	}
	for minute, n := range spread {
		if n < fleetSize/40 || n > fleetSize/4 {
			t.Errorf("%d audits began in minute %d: %v", n, minute, spread)
		}
	}
	for _, audit := range list(f.world, &v1alpha1.MCPServerAuditList{}, "").Items {
		if audit.Name != "notes" && (audit.Status.Trigger.Reason != v1alpha1.TriggerScheduleDue || len(audit.Status.History) != 2 ||
			audit.Status.NextAuditTime.Time.Before(fire.Add(24*time.Hour))) {
			t.Fatalf("%s: %+v, next %s", audit.Name, audit.Status.Trigger, audit.Status.NextAuditTime)
		}
	}
}
