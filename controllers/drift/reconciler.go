package drift

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/sweep"
)

// resyncInterval is the interval for checking policies without events: the offline gate's state is
// written by another controller.
const resyncInterval = 30 * time.Second

// readTimeout is the time after which the status reports that Pods could not be read.
const readTimeout = time.Minute

// maxNote is the most bytes of an event's text (events.k8s.io).
const maxNote = 1024

// Reconciler checks all running Pods against all policies in one pass.
type Reconciler struct {
	// Client reads policies and the metadata of namespaces from the cache, and writes.
	Client client.Client
	// Pods lists and watches Pods: a client of the core API.
	Pods   rest.Interface
	Index  sweep.Index
	Events events.EventRecorder
	// Offline returns why the offline gate of a policy could not be written; empty if it was.
	// Nil if there is none.
	Offline func(v1alpha1.PolicyReference, string) string
	// Clock is replaced in tests.
	Clock clock.PassiveClock

	podStore *podStore
	watches  *watches
	policies policies
	memory   memory
	// containers is the last count, for the metric; nil before the first.
	containers atomic.Pointer[map[metrics.RunningContainer]int]
	// complete is when all Pods were last known.
	complete time.Time
	// context is the manager's, in which the watches run.
	context context.Context
}

// Containers counts the running containers that policies apply to. It is nil until this replica
// has led and counted.
func (r *Reconciler) Containers() map[metrics.RunningContainer]int {
	if counted := r.containers.Load(); counted != nil {
		return *counted
	}
	return nil
}

// Reconcile makes one pass over the changes.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	gated, err := r.namespaces(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	var namespaced v1alpha1.MCPAuditPolicyList
	var cluster v1alpha1.ClusterMCPAuditPolicyList
	if err := errors.Join(r.Client.List(ctx, &namespaced, client.UnsafeDisableDeepCopy), r.Client.List(ctx, &cluster, client.UnsafeDisableDeepCopy)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list policies: %w", err)
	}
	wanted := gated
	if len(namespaced.Items) == 0 && !slices.ContainsFunc(cluster.Items, func(p v1alpha1.ClusterMCPAuditPolicy) bool { return p.Spec.Gate != nil }) {
		wanted = nil // no policy to check Pods against
	}
	now, unread := r.Clock.Now(), r.watches.want(r.context, wanted)
	if len(unread) == 0 {
		r.complete = now
	}
	if !r.Index.Synced() || len(unread) > 0 && now.Sub(r.complete) < readTimeout {
		return ctrl.Result{RequeueAfter: resyncInterval}, nil // wakes up when they are read
	}
	sums, due := r.judge(namespaced.Items, cluster.Items, now)
	next := agenda{now, now.Add(resyncInterval)}
	next.add(due)
	problems := []error{r.publish(ctx, sums, gated, unread, &next)}
	for i := range cluster.Items {
		problems = append(problems, next.unlessStale(r.retire(ctx, &cluster.Items[i])))
	}
	return ctrl.Result{RequeueAfter: max(next.at.Sub(now), coalesce)}, errors.Join(problems...)
}

// agenda is the next time to act.
type agenda struct{ now, at time.Time }

// add schedules a time if it is earlier; zero is ignored.
func (a *agenda) add(at time.Time) {
	if !at.IsZero() && at.Before(a.at) {
		a.at = at
	}
}

// unlessStale retries conflicts silently: the cache is merely stale.
func (a *agenda) unlessStale(err error) error {
	if apierrors.IsConflict(err) {
		a.add(a.now)
		return nil
	}
	return err
}

// publish writes the statuses of the policies, then their events.
func (r *Reconciler) publish(ctx context.Context, sums map[*policy]*tally, gated, unread map[string]bool, next *agenda) error {
	var problems []error
	for _, p := range slices.SortedFunc(maps.Keys(sums), func(a, b *policy) int { return compareNames(a.object, b.object) }) {
		s := r.stateOf(p, gated, unread)
		if s.unread == "" {
			p.announced.resume(gateOf(p.object), sums[p].places)
		}
		if err := r.report(ctx, p, sums[p], s); err != nil {
			problems = append(problems, next.unlessStale(err))
		} else if s.unread == "" {
			next.add(r.emitEvents(p, sums[p], next.now))
		}
	}
	return errors.Join(problems...)
}

func (r *Reconciler) namespaces(ctx context.Context) (map[string]bool, error) {
	list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	gated, ungated := map[string]bool{}, options.UngatedNamespaces()
	for i := range list.Items {
		name := list.Items[i].Name
		if list.Items[i].Labels[v1alpha1.GateLabel] == v1alpha1.GateEnabled && !slices.Contains(ungated, name) {
			gated[name] = true
		}
	}
	return gated, nil
}

// judge updates the judgements and counts them. due is when time alone may change one.
func (r *Reconciler) judge(namespaced []v1alpha1.MCPAuditPolicy, cluster []v1alpha1.ClusterMCPAuditPolicy, now time.Time) (map[*policy]*tally, time.Time) {
	facts := r.Index.Facts(now)
	fresh := r.memory.learn(r.Index, facts)
	r.policies.learn(namespaced, cluster, &fresh)
	factsOf := r.policies.factsOf(facts)
	for _, g := range r.podStore.all() {
		if fresh.concerns(g, now) {
			g.judgement = judge(g, factsOf(g), r.memory.labels)
		}
	}
	r.podStore.mu.Lock()
	defer r.podStore.mu.Unlock()
	var due time.Time
	for _, g := range r.podStore.groups {
		if !g.judged { // it has come meanwhile
			g.judgement = judge(g, factsOf(g), r.memory.labels)
		}
		if !g.due.IsZero() && (due.IsZero() || g.due.Before(due)) {
			due = g.due
		}
	}
	sums, containers := count(maps.Values(r.podStore.groups), &r.policies)
	r.containers.Store(&containers)
	return sums, due
}

// emitEvents writes a policy's events, and returns when more are allowed.
func (r *Reconciler) emitEvents(p *policy, t *tally, now time.Time) time.Time {
	s := p.announced.next(t.places, now)
	warn := func(note string, args ...any) {
		r.Events.Eventf(p.object, nil, corev1.EventTypeWarning, "RunningViolation", "Compare", "%s", excerpt.Line(fmt.Sprintf(note, args...), maxNote))
	}
	over := func(note string, args ...any) {
		r.Events.Eventf(p.object, nil, corev1.EventTypeNormal, "RunningViolationEnded", "Compare", "%s", excerpt.Line(fmt.Sprintf(note, args...), maxNote))
	}
	if s.whole {
		for _, at := range s.began {
			warn("In %s, %s", at.namespace, r.sentence(p, t.places[at], at.container, now))
		}
		for _, at := range s.ended {
			over("The %s does not violate the policy any more.", at)
		}
		return s.again
	}
	if n := len(s.began); n > 0 {
		first := s.began[0]
		warn("Containers that began to violate the policy: %d, of as many owners; status.gate.running has the first. One of them: in %s, %s",
			n, first.namespace, r.sentence(p, t.places[first], first.container, now))
	}
	if n := len(s.ended); n > 0 {
		over("Containers that do not violate the policy any more: %d. One of them: the %s.", n, s.ended[0])
	}
	return s.again
}

// sentence asks the gate again for its message: keeping the text of thousands of judgements for
// the few that get an event would cost more.
func (r *Reconciler) sentence(p *policy, g *group, container string, now time.Time) string {
	if g.unreadable != "" {
		return fmt.Sprintf("%s cannot be judged: %s; %s (policy %s).", g.Owner, g.unreadable, gate.Smaller, p.gate.Ref.Name)
	}
	facts := r.Index.Facts(now)
	facts.Policies = []*gate.Policy{p.gate}
	if g.Owned {
		facts.Policies[0] = p.owned
	}
	for _, o := range gate.Decide(g.Subject, facts).Opinions {
		if o.Container.Name == container && violates(o) {
			return o.Sentence
		}
	}
	return fmt.Sprintf("the container %s of %s would be denied.", container, g.Owner) // the facts have changed meanwhile
}

// start lets the pod store and the index wake the controller, and makes a first pass.
func (r *Reconciler) start(ctx context.Context, wake func()) {
	r.context = ctx
	r.podStore = newPodStore()
	r.podStore.changed = wake
	r.watches = &watches{pods: r.Pods, podStore: r.podStore, running: map[string]*watch{}}
	r.policies = policies{all: map[types.UID]*policy{}}
	r.complete = r.Clock.Now()
	r.memory = memory{labels: map[string]labels.Set{}}
	r.Index.Subscribe(wake)
}
