//go:build envtest

package audit_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// census watches the Pods live: how many there were at a time at most.
type census struct {
	sync.Mutex
	there map[string]string // Pod: namespace
	seen  map[string]bool
	most  int
	// crowded is the most of one namespace.
	crowded int
}

func watchPods(ctx context.Context) *census {
	GinkgoHelper()
	withWatch, err := client.NewWithWatch(config, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	events, err := withWatch.Watch(ctx, &corev1.PodList{}, client.InNamespace(runNamespace))
	Expect(err).NotTo(HaveOccurred())
	c := &census{there: map[string]string{}, seen: map[string]bool{}}
	go func() {
		for event := range events.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				continue
			}
			c.Lock()
			delete(c.there, pod.Name)
			if event.Type != watch.Deleted {
				c.there[pod.Name], c.seen[pod.Name] = pod.Labels[podspec.LabelNamespace], true
			}
			count := map[string]int{}
			for _, namespace := range c.there {
				count[namespace]++
				c.crowded = max(c.crowded, count[namespace])
			}
			c.most = max(c.most, len(c.there))
			c.Unlock()
		}
	}()
	DeferCleanup(events.Stop)
	return c
}

// kubelet finishes every Pod, and removes those that are being deleted, until the context ends.
func (b *bench) kubelet(ctx context.Context) {
	defer GinkgoRecover()
	summary, log := written(clean())
	for ctx.Err() == nil {
		var pods corev1.PodList
		_ = api.List(ctx, &pods, client.InNamespace(runNamespace))
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.DeletionTimestamp != nil {
				// A request to delete it that was broken off may have marked it only.
				_ = api.Delete(ctx, pod, client.GracePeriodSeconds(0))
				continue
			}
			if len(pod.Status.ContainerStatuses) > 0 {
				continue
			}
			b.logs.write(pod.Name, log)
			pod.Status.Phase = corev1.PodFailed
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{
				ended(podspec.ContainerServer, 125, "Error", ""), ended(podspec.ContainerRunner, 0, "Completed", summary),
			}
			_ = api.Status().Update(ctx, pod) // or the next time
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var _ = Describe("the slots of a manager", func() {
	BeforeEach(clearAway)

	verdicts := func(ctx context.Context, g Gomega) (decided int) {
		var audits v1alpha1.MCPServerAuditList
		g.Expect(api.List(ctx, &audits)).To(Succeed())
		for _, a := range audits.Items {
			if a.Status.Verdict == v1alpha1.VerdictPass {
				decided++
			}
		}
		return decided
	}

	It("are never exceeded by many audits at once, across a restart", func(ctx SpecContext) {
		const teams, each = 4, 6
		b := newBench(ctx)
		b.limited(2)
		b.Clock = clock.RealClock{}
		for team := range teams {
			namespace := b.key.Namespace
			if team > 0 {
				namespace = newBench(ctx).key.Namespace
			}
			for i := range each - 1 {
				Expect(api.Create(ctx, &v1alpha1.MCPServerAudit{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("server-%d", i)},
					Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "registry.example/notes:v1"}},
				})).To(Succeed())
			}
		}
		pods := watchPods(ctx)
		kubelet, stopKubelet := context.WithCancel(ctx)
		defer stopKubelet()
		stop := b.startManager(ctx)
		Eventually(ctx, func(g Gomega) { g.Expect(b.Slots.Waiting()).To(HaveKeyWithValue("requested", teams*each-2)) }).
			WithTimeout(5 * time.Minute).WithPolling(50 * time.Millisecond).Should(Succeed())
		go b.kubelet(kubelet)
		Eventually(ctx, func(g Gomega) { g.Expect(verdicts(ctx, g)).To(BeNumerically(">=", 5)) }).
			WithTimeout(5 * time.Minute).WithPolling(50 * time.Millisecond).Should(Succeed())
		stop()

		By("starting another manager, which knows nothing of the first")
		logs := b.logs
		b.Reconciler, b.images, _, b.events = newReconciler(api)
		b.limited(2)
		b.Logs, b.Clock = logs, clock.RealClock{}
		stop = b.startManager(ctx)
		defer func() { stop() }()
		Eventually(ctx, func(g Gomega) { g.Expect(verdicts(ctx, g)).To(Equal(teams * each)) }).
			WithTimeout(10 * time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
		pods.Lock()
		defer pods.Unlock()
		Expect(pods.most).To(Equal(2), "no more than the limit, and no slot is left unused")
		Expect(pods.crowded).To(Equal(1))
		Expect(pods.seen).To(HaveLen(teams*each), "no server is run twice")
	})

	It("are looked after without an event", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		stop := a.startManager(ctx)
		defer func() { stop() }()
		Eventually(ctx, func(g Gomega) { g.Expect(a.audit(ctx)).To(haveCondition("Auditing", "Running")) }).
			WithTimeout(5 * time.Minute).Should(Succeed())
		a.stick(ctx)
		a.finish(ctx, a.pod(ctx), clean())
		Eventually(ctx, func(g Gomega) { g.Expect(a.pod(ctx).DeletionTimestamp).NotTo(BeNil()) }).WithTimeout(5 * time.Minute).Should(Succeed())
		b := newBench(ctx)
		Eventually(ctx, func(g Gomega) { g.Expect(b.audit(ctx)).To(haveCondition("Auditing", "Queued")) }).WithTimeout(5 * time.Minute).Should(Succeed())
		now.SetTime(now.Now().Add(10 * time.Minute))
		Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) }).WithTimeout(5 * time.Minute).Should(Succeed())
	})
})
