//go:build envtest

package audit_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// clearAway removes what other specs left: it would take slots.
func clearAway(ctx context.Context) {
	GinkgoHelper()
	var audits v1alpha1.MCPServerAuditList
	Expect(api.List(ctx, &audits)).To(Succeed())
	for i := range audits.Items {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		Expect(client.IgnoreNotFound(api.Patch(ctx, &audits.Items[i], patch))).To(Succeed())
		Expect(client.IgnoreNotFound(api.Delete(ctx, &audits.Items[i]))).To(Succeed())
	}
	Expect(api.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(runNamespace), client.GracePeriodSeconds(0))).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		var pods corev1.PodList
		g.Expect(api.List(ctx, &pods, client.InNamespace(runNamespace))).To(Succeed())
		g.Expect(pods.Items).To(BeEmpty())
		g.Expect(api.List(ctx, &audits)).To(Succeed())
		g.Expect(audits.Items).To(BeEmpty())
	}).Should(Succeed())
}

// limited gives a bench few slots, and a clock that the spec sets.
func (b *bench) limited(total int) *clocktesting.FakePassiveClock {
	b.Options.Slots, b.Options.NamespaceSlots = total, 1
	b.Slots = slots.New(slots.Limits{Total: total, PerNamespace: 1})
	fake := clocktesting.NewFakePassiveClock(time.Now())
	b.Clock = fake
	return fake
}

// limited returns a bench with few slots, one of a namespace, and its clock.
func limited(ctx context.Context, total int) (*bench, *clocktesting.FakePassiveClock) {
	GinkgoHelper()
	b := newBench(ctx)
	return b, b.limited(total)
}

// beside creates another audit that has the same reconciler.
func (b *bench) beside(ctx context.Context, change ...func(*v1alpha1.MCPServerAudit)) *bench {
	GinkgoHelper()
	other := newBench(ctx, change...)
	other.Reconciler, other.images, other.logs, other.events = b.Reconciler, b.images, b.logs, b.events
	return other
}

// queued reconciles an audit that is to find no slot.
func (b *bench) queued(ctx context.Context) {
	GinkgoHelper()
	Expect(b.reconcile(ctx).RequeueAfter).To(BeZero(), "it is woken and does not poll")
	Expect(b.pods(ctx)).To(BeEmpty())
	Expect(b.audit(ctx)).To(haveCondition("Auditing", "Queued"))
	Expect(message(b.audit(ctx), "Auditing")).To(HavePrefix("Waiting for a slot: at most"))
}

// runs reconciles an audit that is to find one.
func (b *bench) runs(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	b.reconcile(ctx)
	Expect(b.audit(ctx)).To(haveCondition("Auditing", "Running"))
	return b.pod(ctx)
}

var _ = Describe("a slot", func() {
	BeforeEach(clearAway)

	It("is waited for without a write, until it is free", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		b := a.beside(ctx)
		a.runs(ctx)
		b.queued(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Queued"), haveCondition("Reconciling", "Queued")))
		Expect(message(b.audit(ctx), "Ready")).To(Equal("Waiting for a slot: at most 1 audits run at a time, and 1 of a namespace. This one is requested (NeverAudited)."))

		before := b.audit(ctx).ResourceVersion
		now.SetTime(now.Now().Add(time.Hour))
		b.queued(ctx)
		Expect(b.audit(ctx).ResourceVersion).To(Equal(before))
		Expect(b.Slots.Waiting()).To(HaveKeyWithValue("requested", 1))
		now.SetTime(time.Now()) // the Pods have the API server's
		a.ends(ctx, clean())
		b.runs(ctx)
	})

	It("goes to a person before it goes to a renewal", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		until := metav1.NewTime(now.Now().Add(time.Minute).Truncate(time.Second))
		drifted := a.beside(ctx, func(o *v1alpha1.MCPServerAudit) {
			o.Spec.Suppressions = []report.Suppression{{Rule: "MCPA-READ-001", Match: "*", Reason: "accepted for a while", Until: report.At(until.Time)}}
		})
		drifted.runs(ctx)
		a.queued(ctx)
		drifted.ends(ctx, clean())
		a.runs(ctx)

		now.SetTime(now.Now().Add(2 * time.Minute))
		drifted.queued(ctx)
		Expect(message(drifted.audit(ctx), "Auditing")).To(ContainSubstring("drift (SuppressionExpired)"))
		now.SetTime(now.Now().Add(time.Minute))
		person := a.beside(ctx)
		person.queued(ctx)
		var woken []client.ObjectKey
		a.Slots.Notify(func(key client.ObjectKey) { woken = append(woken, key) })

		a.ends(ctx, clean())
		drifted.queued(ctx)
		Expect(woken).To(ConsistOf(person.key))
		person.runs(ctx)

		By("asking for the one that waits")
		drifted.request(ctx, "now")
		drifted.reconcile(ctx)
		Expect(message(drifted.audit(ctx), "Auditing")).To(ContainSubstring("requested (Requested)"))
	})

	It("is counted in the time that an audit waited", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		b := a.beside(ctx)
		registry := prometheus.NewRegistry()
		b.Metrics = metrics.New(registry)
		a.runs(ctx)
		b.queued(ctx)
		now.SetTime(now.Now().Add(20 * time.Second))
		a.ends(ctx, clean())
		b.runs(ctx)
		families, err := registry.Gather()
		Expect(err).NotTo(HaveOccurred())
		for _, family := range families {
			if family.GetName() == "mcpaudit_audit_wait_seconds" {
				Expect(family.GetMetric()[0].GetHistogram().GetSampleSum()).To(BeNumerically(">=", 20.0))
			}
		}
	})

	It("is given up by an audit that is suspended or deleted while it waits", func(ctx SpecContext) {
		a, _ := limited(ctx, 1)
		suspended, deleted, gone := a.beside(ctx), a.beside(ctx), a.beside(ctx)
		a.runs(ctx)
		for _, b := range []*bench{suspended, deleted, gone} {
			b.queued(ctx)
		}
		suspended.change(ctx, func(o *v1alpha1.MCPServerAudit) { o.Spec.Suspend = true })
		suspended.reconcile(ctx)
		Expect(suspended.audit(ctx)).To(And(haveCondition("Ready", "Suspended"), haveCondition("Auditing", "Idle")))
		Expect(api.Delete(ctx, deleted.audit(ctx))).To(Succeed())
		deleted.reconcile(ctx)
		Expect(api.Delete(ctx, gone.audit(ctx))).To(Succeed())
		gone.reconcile(ctx)
		gone.reconcile(ctx)
		Expect(a.Slots.Waiting()).To(HaveKeyWithValue("requested", 0))
	})

	It("is not held by an audit whose image cannot be resolved", func(ctx SpecContext) {
		a, _ := limited(ctx, 1)
		a.images.err = imageref.ErrUnreachable
		a.reconcile(ctx)
		Expect(a.Slots.Active()).To(BeZero())
		a.images.err = nil
		b := a.beside(ctx)
		b.runs(ctx)

		By("nor by one whose registry went away while it waited")
		a.queued(ctx)
		b.ends(ctx, clean())
		c := a.beside(ctx)
		c.queued(ctx) // it is a's turn
		a.images.err = imageref.ErrUnreachable
		a.reconcile(ctx)
		a.images.err = nil
		c.runs(ctx)
	})

	It("is free again if the Pod is refused", func(ctx SpecContext) {
		a, _ := limited(ctx, 1)
		a.refuses("Pod")
		Expect(a.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		refusal := message(a.audit(ctx), "Auditing")
		Expect(refusal).To(ContainSubstring("no tracing here"))
		Expect(a.Slots.Active()).To(BeZero())
		a.Client = api
		b := a.beside(ctx)
		b.runs(ctx)

		By("waiting for another one, and saying still what is wrong")
		Expect(a.reconcile(ctx).RequeueAfter).To(BeZero())
		Expect(message(a.audit(ctx), "Auditing")).To(Equal(refusal))
		b.ends(ctx, clean())
		a.runs(ctx)
	})

	DescribeTable("is not free while nobody knows whether the Pod was created", func(ctx SpecContext, created bool) {
		a, _ := limited(ctx, 1)
		a.Client = a.intercept(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if created {
					if err := c.Create(ctx, object, options...); err != nil {
						return err
					}
				}
				return apierrors.NewTimeoutError("the request took too long", 1)
			},
			// The cache does not show it either.
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				return c.List(ctx, list, append(options, client.MatchingLabels{"cache": "stale"})...)
			},
		})
		_, err := a.Reconcile(ctx, ctrl.Request{NamespacedName: a.key})
		Expect(err).To(MatchError(ContainSubstring("took too long")))
		b := a.beside(ctx)
		b.queued(ctx)
		Expect(len(a.pods(ctx))).To(Equal(map[bool]int{true: 1, false: 0}[created]))

		a.Client = api
		a.runs(ctx)
		b.queued(ctx)
		a.ends(ctx, clean())
		b.runs(ctx)
	}, Entry("and it was", true), Entry("and it was not", false))

	It("is free when a Pod that never goes away had its time", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		b := a.beside(ctx)
		a.runs(ctx)
		a.stick(ctx)
		a.finish(ctx, a.pod(ctx), clean())
		a.reconcile(ctx)
		Expect(a.audit(ctx)).To(haveCondition("Ready", "Passed"))
		Expect(a.pod(ctx).DeletionTimestamp).NotTo(BeNil())
		now.SetTime(now.Now().Add(time.Minute))
		b.queued(ctx)
		now.SetTime(now.Now().Add(2 * time.Minute))
		b.runs(ctx)
	})

	It("is free when a Pod had its time that nobody even deletes", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		b := a.beside(ctx)
		a.runs(ctx)
		now.SetTime(now.Now().Add(30 * time.Minute))
		b.queued(ctx)
		now.SetTime(now.Now().Add(2 * time.Hour))
		b.reconcile(ctx)
		Expect(b.audit(ctx).Status.Trigger).NotTo(BeNil(), "it ran, if only to be too late by the clock of this spec")
	})

	It("costs no deadline while it is waited for", func(ctx SpecContext) {
		a, now := limited(ctx, 1)
		b := a.beside(ctx)
		a.runs(ctx)
		b.queued(ctx)
		now.SetTime(now.Now().Add(time.Hour))

		By("not that of the registry")
		b.images.err = imageref.ErrUnreachable
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(message(b.audit(ctx), "Auditing")).To(ContainSubstring("cannot be resolved yet"))
		b.images.err = nil
		b.queued(ctx)
		now.SetTime(now.Now().Add(time.Hour))

		By("not that of the refusals")
		a.ends(ctx, clean())
		b.refuses("Pod")
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.audit(ctx)).To(haveCondition("Ready", "AuditPodRefused"))
		now.SetTime(now.Now().Add(b.Options.StartDeadline - time.Second))
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "AuditPodRefused"))
		now.SetTime(now.Now().Add(time.Second))
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "AuditInconclusive"))
	})

	It("is not asked for in vain by all that wait when the quota is full", func(ctx SpecContext) {
		a, now := limited(ctx, 2)
		attempts := 0
		a.Client = a.intercept(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if _, isPod := object.(*corev1.Pod); !isPod {
					return c.Create(ctx, object, options...)
				}
				attempts++
				return apierrors.NewForbidden(corev1.Resource("pods"), object.GetName(), fmt.Errorf("exceeded quota: runs"))
			},
		})
		Expect(a.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		for range 3 {
			a.beside(ctx).queued(ctx)
		}
		Expect(attempts).To(Equal(1))
		now.SetTime(now.Now().Add(time.Minute))
		a.beside(ctx).queued(ctx) // those who waited longer are woken
		Expect(a.Slots.Active()).To(Equal(2))
	})
})

// stick keeps the Pod from going away, as a node does that is lost.
func (b *bench) stick(ctx context.Context) {
	GinkgoHelper()
	pod := b.pod(ctx)
	pod.Finalizers = []string{"mcpaudit.dev/test"}
	Expect(api.Update(ctx, pod)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		Expect(client.IgnoreNotFound(api.Patch(ctx, pod, patch))).To(Succeed())
	})
}
