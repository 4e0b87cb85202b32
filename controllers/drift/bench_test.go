package drift

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// crowd makes a podStore of Pods, of which so many are alike.
func crowd(b *testing.B, pods, alike int) (*Reconciler, *index, *namespaceStore) {
	b.Helper()
	r, known, _ := newReconciler(b)
	s := &namespaceStore{podStore: r.podStore, namespace: "team"}
	for i := range pods {
		if err := s.Add(realistic(i, alike)); err != nil {
			b.Fatal(err)
		}
		known.know(i/alike, 0, noon)
	}
	return r, known, s
}

// realistic is a Pod with labels and command lines as they are met.
func realistic(i, alike int) *corev1.Pod {
	p := pod("team", fmt.Sprintf("notes-server-%08x", i/alike), i%alike, i/alike)
	p.Labels = map[string]string{"app.kubernetes.io/name": "notes-server", "app.kubernetes.io/instance": fmt.Sprintf("notes-%d", i/alike),
		"app.kubernetes.io/managed-by": "Helm", "pod-template-hash": fmt.Sprintf("%010x", i/alike)}
	p.Spec.Containers[0].Args = []string{"--transport=streamable-http", "--listen=:8080"}
	return p
}

func gates(n int) []v1alpha1.MCPAuditPolicy {
	var all []v1alpha1.MCPAuditPolicy
	for i := range n {
		all = append(all, policyOf("team", fmt.Sprintf("policy-%d", i), 1))
	}
	return all
}

// BenchmarkWorld tells what 10,000 Pods take once 10 policies have judged them, which is
// also when the first pass is over.
func BenchmarkWorld(b *testing.B) {
	for _, alike := range []int{1, 10, 500} {
		b.Run(fmt.Sprintf("alike=%d", alike), func(b *testing.B) {
			const pods = 10_000
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				r, known, _ := crowd(b, pods, alike)
				started := time.Now()
				r.judge(gates(10), nil, noon)
				b.ReportMetric(float64(time.Since(started).Milliseconds()), "ms/first-pass")
				started = time.Now()
				known.know(1, 1, noon)
				r.judge(gates(10), nil, noon)
				b.ReportMetric(float64(time.Since(started).Microseconds())/1000, "ms/verdict")
				verdicts := known.verdicts
				known.verdicts, r.memory.verdicts = nil, nil
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/pods, "bytes/Pod")
				runtime.KeepAlive(r)
				runtime.KeepAlive(verdicts)
			}
		})
	}
}
