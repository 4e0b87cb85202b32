package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func digest(of string) v1alpha1.Digest { return v1alpha1.CommandDigest([]string{of}, nil) }

// audit has passed on an image.
func audit(namespace, name, image string, generation int) *v1alpha1.MCPServerAudit {
	now := metav1.NewTime(time.Unix(1_700_000_000, 0))
	a := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprint(generation)), Generation: 1}}
	a.Spec.Server.Image = image
	a.Status = v1alpha1.MCPServerAuditStatus{
		ObservedGeneration: 1, Verdict: v1alpha1.VerdictPass, ImageDigest: digest(image), LastAuditTime: &now, Findings: &v1alpha1.FindingCounts{},
		Audited: &v1alpha1.AuditedServer{
			Image: image, Digests: []v1alpha1.Digest{digest(image), digest(image + "/amd64")}, CommandDigest: v1alpha1.CommandDigest(nil, nil),
			ArgvDigest: digest("argv"), Unsuppressed: &v1alpha1.FindingCounts{},
		},
		History: []v1alpha1.HistoryEntry{{Time: now, Verdict: v1alpha1.VerdictPass, ImageDigest: digest(image)}},
	}
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionAudited, v1alpha1.ConditionManifestStable} {
		a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPassed, LastTransitionTime: now, ObservedGeneration: 1})
	}
	return a
}

func policyOf(name string, generation int64) *v1alpha1.MCPAuditPolicy {
	return &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: "1", Generation: generation}}
}

func metadataOf(kind, name string, set map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set}}
}

// handlers returns the handlers of the sources of a Store, by the kind as Go names it.
func handlers(s *Store) map[string]toolscache.ResourceEventHandler {
	all := map[string]toolscache.ResourceEventHandler{}
	for _, source := range s.sources() {
		name := fmt.Sprintf("%T", source.kind)
		if kind := source.kind.GetObjectKind().GroupVersionKind().Kind; kind != "" {
			name = kind
		}
		all[name] = source.handler()
	}
	return all
}

func names(verdicts []*gate.Verdict) []string {
	var all []string
	for _, v := range verdicts {
		all = append(all, v.Audit.String())
	}
	return all
}

func TestVerdictsFollowTheirAudits(t *testing.T) {
	s := New()
	audits := handlers(s)["*v1alpha1.MCPServerAudit"]
	const one, two = "registry.example/one:1", "registry.example/two:1"
	expect := func(when string, image string, want ...string) {
		t.Helper()
		for _, found := range [][]*gate.Verdict{s.ByImage(image), s.ByDigest(digest(image)), s.ByDigest(digest(image + "/amd64"))} {
			if got := names(found); !slices.Equal(got, want) {
				t.Errorf("%s: verdicts on %s are %v, want %v", when, image, got, want)
			}
		}
	}
	first := audit("team-a", "notes", one, 1)
	audits.OnAdd(first, true)
	audits.OnAdd(audit("team-b", "notes", one, 2), true)
	audits.OnAdd(audit("team-a", "mail", one, 3), true)
	expect("in the order of their names", one, "team-a/mail", "team-a/notes", "team-b/notes")

	second := audit("team-a", "notes", two, 1)
	audits.OnUpdate(first, second)
	expect("after another image", one, "team-a/mail", "team-b/notes")
	expect("after another image", two, "team-a/notes")

	again := audit("team-a", "notes", one, 9)
	audits.OnUpdate(second, again)
	expect("after it was deleted and made again, which an informer may tell of as an update", two)
	expect("and made again", one, "team-a/mail", "team-a/notes", "team-b/notes")

	audits.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "team-a/notes", Obj: second})
	expect("after a deletion that was seen late", one, "team-a/mail", "team-b/notes")
	audits.OnDelete(audit("team-a", "mail", two, 3))
	expect("after a deletion in another state than the one that was known", one, "team-b/notes")

	unknown := audit("team-b", "notes", one, 2)
	unknown.Status = v1alpha1.MCPServerAuditStatus{ObservedGeneration: -1}
	audits.OnUpdate(nil, unknown)
	expect("after the status was lost", one)
	if s.Len() != 0 || len(s.byDigest) != 0 || len(s.byImage) != 0 {
		t.Errorf("%d verdicts are left, of %d digests and %d images", s.Len(), len(s.byDigest), len(s.byImage))
	}
}

func TestSubscribersAreToldOfChangesOnly(t *testing.T) {
	s := New()
	told := 0
	s.Subscribe(func() {
		told++
		s.Len() // a subscriber may look
	})
	all := handlers(s)
	step := func(what string, want int, do func()) {
		t.Helper()
		told = 0
		if do(); told != want {
			t.Errorf("%s: told %d times, want %d", what, told, want)
		}
	}
	audits, policies := all["*v1alpha1.MCPServerAudit"], all["*v1alpha1.MCPAuditPolicy"]
	namespaces, nodes := all["Namespace"], all["Node"]
	amd64 := map[string]string{"kubernetes.io/arch": "amd64"}
	step("a verdict", 1, func() { audits.OnAdd(audit("team-a", "notes", "registry.example/one:1", 1), false) })
	step("the same verdict", 0, func() {
		same := audit("team-a", "notes", "registry.example/one:1", 1)
		same.ResourceVersion = "2"
		audits.OnUpdate(same, same)
	})
	step("a policy", 1, func() { policies.OnAdd(policyOf("default", 1), false) })
	step("the status of a policy", 0, func() { policies.OnUpdate(nil, policyOf("default", 1)) })
	step("another spec of a policy", 1, func() { policies.OnUpdate(nil, policyOf("default", 2)) })
	step("the same policy made again", 1, func() {
		again := policyOf("default", 2)
		again.UID = "2"
		policies.OnUpdate(nil, again)
	})
	step("the end of a policy", 1, func() { policies.OnDelete(policyOf("default", 2)) })
	step("its end once more", 0, func() { policies.OnDelete(policyOf("default", 2)) })
	step("a cluster policy without a gate", 0, func() {
		all["*v1alpha1.ClusterMCPAuditPolicy"].OnAdd(&v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: "found", Generation: 1}}, false)
	})
	step("a namespace without labels", 1, func() { namespaces.OnAdd(metadataOf("Namespace", "team-a", nil), false) })
	step("its annotations", 0, func() { namespaces.OnUpdate(nil, metadataOf("Namespace", "team-a", nil)) })
	step("its labels", 1, func() { namespaces.OnUpdate(nil, metadataOf("Namespace", "team-a", amd64)) })
	step("a node", 1, func() { nodes.OnAdd(metadataOf("Node", "a", amd64), false) })
	step("a node like it", 0, func() { nodes.OnAdd(metadataOf("Node", "b", amd64), false) })
	step("a node of another architecture", 1, func() {
		nodes.OnAdd(metadataOf("Node", "c", map[string]string{"kubernetes.io/arch": "arm64"}), false)
	})
	step("the end of one of two alike", 0, func() { nodes.OnDelete(metadataOf("Node", "b", nil)) })
}

func TestFacts(t *testing.T) {
	s := New()
	all := handlers(s)
	for _, name := range []string{"b", "a"} {
		all["*v1alpha1.MCPAuditPolicy"].OnAdd(policyOf(name, 1), true)
		all["*v1alpha1.MCPAuditException"].OnAdd(&v1alpha1.MCPAuditException{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(0, 0))},
			Spec: v1alpha1.MCPAuditExceptionSpec{
				PolicyRef: v1alpha1.PolicyReference{Kind: gate.KindPolicy, Name: "a"}, Images: []v1alpha1.Digest{digest("one")},
				Reason: "known and harmless", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(time.Unix(3600, 0)),
			},
		}, true)
	}
	all["*v1alpha1.ClusterMCPAuditPolicy"].OnAdd(&v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "all", Generation: 1},
		Spec:       v1alpha1.ClusterMCPAuditPolicySpec{Gate: &v1alpha1.Gate{}, Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsAll}},
	}, true)
	all["Namespace"].OnAdd(metadataOf("Namespace", "team-a", nil), true)
	for name, architecture := range map[string]string{"a": "arm64", "b": "amd64", "c": "amd64"} {
		all["Node"].OnAdd(metadataOf("Node", name, map[string]string{"kubernetes.io/arch": architecture}), true)
	}
	now := time.Unix(60, 0)
	facts := s.Facts(now)
	var order []string
	for _, p := range facts.Policies {
		order = append(order, p.Ref.Kind+"/"+p.Ref.Name)
	}
	for _, e := range facts.Exceptions {
		order = append(order, e.Name)
	}
	if want := []string{"ClusterMCPAuditPolicy/all", "MCPAuditPolicy/a", "MCPAuditPolicy/b", "a", "b"}; !slices.Equal(order, want) {
		t.Errorf("rules are %v, want %v", order, want)
	}
	all["Node"].OnAdd(metadataOf("Node", "d", map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "windows"}), true)
	all["Node"].OnAdd(metadataOf("Node", "e", nil), true)
	if facts = s.Facts(now); !slices.Equal(facts.Architectures, []string{"amd64", "arm64", "unknown", "windows/amd64"}) || !facts.Now.Equal(now) {
		t.Errorf("architectures %v at %s", facts.Architectures, facts.Now)
	}
	if set, ok := facts.NamespaceLabels("team-a"); !ok || set == nil || len(set) != 0 {
		t.Errorf("labels of a namespace without any: %v, %t", set, ok)
	}
	all["*v1alpha1.MCPAuditPolicy"].OnDelete(policyOf("b", 1))
	all["Namespace"].OnDelete(metadataOf("Namespace", "team-a", nil))
	if len(facts.Policies) != 3 || len(s.Facts(now).Policies) != 2 {
		t.Errorf("%d policies in the facts of before, and %d by now", len(facts.Policies), len(s.Facts(now).Policies))
	}
	if set, ok := facts.NamespaceLabels("team-a"); ok {
		t.Errorf("labels of a namespace that is gone: %v", set)
	}
}

// TestListsAreNotChangedWhileTheyAreRead, against a model, and under the race
// detector with readers beside.
func TestListsAreNotChangedWhileTheyAreRead(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(7, 7))
	model := map[types.NamespacedName]string{}
	stop, readers := make(chan struct{}), sync.WaitGroup{}
	image := func(n int) string { return fmt.Sprintf("registry.example/%d:1", n) }
	for range 2 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				list := s.Facts(time.Now()).Verdicts.ByImage(image(i % 5))
				if !slices.IsSortedFunc(list, byAudit) || slices.Contains(list, nil) {
					t.Error("a list changed while it was read")
					return
				}
			}
		})
	}
	for range 5000 {
		name := types.NamespacedName{Namespace: fmt.Sprint("team-", random.IntN(3)), Name: fmt.Sprint(random.IntN(20))}
		if random.IntN(3) == 0 {
			delete(model, name)
			s.setVerdict(name, nil)
			continue
		}
		model[name] = image(random.IntN(5))
		s.setVerdict(name, &gate.Verdict{Audit: name, Image: model[name], Digests: []v1alpha1.Digest{digest(model[name]), digest(model[name])}})
	}
	close(stop)
	readers.Wait()
	for n := range 5 {
		var want []string
		for name, of := range model {
			if of == image(n) {
				want = append(want, name.String())
			}
		}
		byName := func(all []string) []string { slices.Sort(all); return all }
		if got := byName(names(s.ByImage(image(n)))); !slices.Equal(got, byName(want)) {
			t.Errorf("verdicts on %s are %v, want %v", image(n), got, want)
		}
		if !slices.Equal(s.ByImage(image(n)), s.ByDigest(digest(image(n)))) {
			t.Errorf("digest and reference of %s differ", image(n))
		}
	}
	if s.Len() != len(model) || len(slices.Collect(s.All())) != len(model) {
		t.Errorf("%d verdicts, want %d", s.Len(), len(model))
	}
}

// slow informers know no kind at first, and have synced when they are let.
type slow struct {
	mu       sync.Mutex
	failures int
	informer *informer
}

type informer struct {
	cache.Informer
	handlers sync.WaitGroup
	filled   chan struct{}
}

func (s *slow) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures--; s.failures >= 0 {
		return nil, errors.New("no matches for kind")
	}
	return s.informer, nil
}

func (i *informer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.handlers.Done()
	return i, nil
}

func (i *informer) HasSynced() bool {
	select {
	case <-i.filled:
		return true
	default:
		return false
	}
}
func (i *informer) HasSyncedChecker() toolscache.DoneChecker { return nil }

func TestSyncedOnceEveryHandlerHasSeenItsList(t *testing.T) {
	s := New()
	told := make(chan struct{}, 1)
	s.Subscribe(func() { told <- struct{}{} })
	all := &informer{filled: make(chan struct{})}
	all.handlers.Add(len(s.sources()))
	s.informers = &slow{failures: 1, informer: all}
	done := make(chan error)
	go func() { done <- s.Start(t.Context()) }()
	all.handlers.Wait()
	if s.Synced() || s.Check(nil) == nil {
		t.Error("synced before the lists were seen")
	}
	close(all.filled)
	<-told
	if err := <-done; err != nil || !s.Synced() || s.Check(nil) != nil {
		t.Errorf("Start = %v, synced = %t, %v", err, s.Synced(), s.Check(nil))
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	never := New()
	never.informers = &slow{failures: 1 << 30}
	if err := never.Start(stopped); err != nil || never.Synced() {
		t.Errorf("stopped: %v, synced = %t", err, never.Synced())
	}
}

// BenchmarkVerdicts prints what a verdict takes beyond the object of the informer,
// whose strings it shares, and what an update and a look-up cost.
func BenchmarkVerdicts(b *testing.B) {
	for _, n := range []int{100, 5_000, 50_000} {
		objects := make([]*v1alpha1.MCPServerAudit, n)
		for i := range objects {
			objects[i] = audit(fmt.Sprint("team-", i%100), fmt.Sprint("server-", i), fmt.Sprintf("registry.example/servers/%d:1", i), i)
		}
		heap := func() float64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc)
		}
		before, s := heap(), New()
		audits := handlers(s)["*v1alpha1.MCPServerAudit"]
		for _, object := range objects {
			audits.OnAdd(object, true)
		}
		each := (heap() - before) / float64(n)
		b.Run(fmt.Sprintf("update/verdicts=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				name := types.NamespacedName{Namespace: "team-a", Name: fmt.Sprint(i % 7)}
				s.setVerdict(name, &gate.Verdict{Audit: name, Image: "registry.example/another:1", Digests: []v1alpha1.Digest{digest("a")}, Time: time.Unix(int64(i), 0)})
			}
			b.ReportMetric(each, "B/verdict")
		})
		b.Run(fmt.Sprintf("look-up/verdicts=%d", n), func(b *testing.B) {
			wanted := digest(objects[n/2].Status.Audited.Image)
			for b.Loop() {
				if len(s.Facts(time.Time{}).Verdicts.ByDigest(wanted)) != 1 {
					b.Fatal("not found")
				}
			}
		})
		runtime.KeepAlive(objects)
	}
}
