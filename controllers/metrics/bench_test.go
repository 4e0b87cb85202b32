package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

// noWatchList lists before it watches.
type noWatchList struct{ toolscache.ListWatch }

func (*noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

// filled is a cache as a manager has it, filled from a list.
func filled(ctx context.Context, tb testing.TB, audits []v1alpha1.MCPServerAudit) crcache.Cache {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("MCPServerAudit"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	listed := func(kind runtime.Object) toolscache.ListerWatcher {
		return &noWatchList{toolscache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				if _, isPod := kind.(*corev1.Pod); isPod {
					return &corev1.PodList{}, nil
				}
				return &v1alpha1.MCPServerAuditList{Items: audits}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
		}}
	}
	c, err := crcache.New(&rest.Config{}, crcache.Options{
		Scheme: scheme, Mapper: mapper,
		NewInformer: func(_ toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(listed(kind), kind, resync, indexers)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	go func() { _ = c.Start(ctx) }() // ends with ctx
	for _, kind := range []client.Object{&v1alpha1.MCPServerAudit{}, &corev1.Pod{}} {
		if _, err := c.GetInformer(ctx, kind); err != nil {
			tb.Fatal(err)
		}
	}
	if !c.WaitForCacheSync(ctx) { // GetInformer alone waits for nothing until the cache has started
		tb.Fatal("the cache was not filled")
	}
	return c
}

// large is an audit whose status has what a server with many tools leaves.
func large(i int) v1alpha1.MCPServerAudit {
	a := audit(v1alpha1.VerdictFail, v1alpha1.ReasonFindingsAboveThreshold, decided(time.Hour), found(v1alpha1.FindingCounts{High: 20}))
	a.Namespace, a.Name = fmt.Sprintf("team-%d", i%50), fmt.Sprintf("server-%d", i)
	for range v1alpha1.MaxTopFindings {
		a.Status.TopFindings = append(a.Status.TopFindings, v1alpha1.TopFinding{Rule: "MCPA-READ-001", Message: strings.Repeat("m", 200)})
	}
	for range 64 {
		a.Status.Tools = append(a.Status.Tools, v1alpha1.ToolDigest{Name: "tool", Digest: "sha256:0"})
	}
	return a
}

// copying is a cache that is read as usual.
type copying struct{ client.Reader }

func (c copying) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	return c.Reader.List(ctx, list)
}

// BenchmarkScrape returns what a scrape costs with 5,000 audits; "copied" is what it
// would, if the cache copied them.
func BenchmarkScrape(b *testing.B) {
	var audits []v1alpha1.MCPServerAudit
	for i := range 5000 {
		audits = append(audits, large(i))
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	shared := filled(ctx, b, audits)
	for name, reader := range map[string]client.Reader{"shared": shared, "copied": copying{shared}} {
		b.Run(name, func(b *testing.B) {
			registry := prometheus.NewRegistry()
			registry.MustRegister(&metrics.Fleet{Cache: reader, Elected: elected(), Clock: clocktesting.NewFakePassiveClock(now)})
			b.ReportAllocs()
			for b.Loop() {
				if families, err := registry.Gather(); err != nil || len(families) < 10 {
					b.Fatalf("%d families, %v", len(families), err)
				}
			}
		})
	}
}

// TestScrapeCopiesNothing: what a scrape allocates does not grow with the statuses.
func TestScrapeCopiesNothing(t *testing.T) {
	audits := make([]v1alpha1.MCPServerAudit, 200)
	for i := range audits {
		audits[i] = large(i)
	}
	cost := func(reader client.Reader) float64 {
		f := &metrics.Fleet{Cache: reader, Elected: elected(), Clock: clocktesting.NewFakePassiveClock(now)}
		return testing.AllocsPerRun(3, func() {
			series := make(chan prometheus.Metric, 1000)
			f.Collect(series)
		})
	}
	shared := filled(t.Context(), t, audits)
	if got, copied := cost(shared), cost(copying{shared}); got > copied/2 {
		t.Errorf("a scrape allocates %.0f times, and %.0f with copies: it copies", got, copied)
	}
}
