//go:build envtest

package audit_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

var _ = Describe("a tag", func() {
	// watched is a bench whose registry is asked every hour, and the time of the bench.
	watched := func(ctx SpecContext, change ...func(*v1alpha1.MCPServerAudit)) (*bench, *clocktesting.FakePassiveClock) {
		GinkgoHelper()
		b := newBench(ctx, change...)
		b.Options.ImageCheckInterval, b.Options.StartDeadline = time.Hour, 24*time.Hour // for the Pods have the time of the API server
		b.audited(ctx, clean())
		clock := clocktesting.NewFakePassiveClock(time.Now())
		b.Clock = clock
		b.rests(ctx)
		return b, clock
	}
	move := func(b *bench) {
		b.images.image.Digest, b.images.image.Reference = sha("b"), "registry.example/notes@"+sha("b")
		b.images.image.Manifest = sha("a") // the one that the fake kubelet reports
	}

	It("that names another image has it audited, within an interval", func(ctx SpecContext) {
		b, clock := watched(ctx)
		move(b)
		b.rests(ctx)
		after := b.reconcile(ctx).RequeueAfter
		Expect(after).To(And(BeNumerically(">", 0), BeNumerically("<=", time.Hour)))
		clock.SetTime(clock.Now().Add(after))
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerImageChanged))
		a := b.audit(ctx)
		Expect(a.Status.ImageDigest).To(BeEquivalentTo(sha("b")))
		Expect(a.Status.Trigger.Message).To(ContainSubstring(sha("b") + " in the registry, and " + sha("a") + " was audited"))
		b.rests(ctx)
	})

	It("is asked about once in an interval, and nothing is written", func(ctx SpecContext) {
		b, clock := watched(ctx)
		for range 5 {
			asked := b.images.asked
			clock.SetTime(clock.Now().Add(b.reconcile(ctx).RequeueAfter))
			b.rests(ctx)
			b.rests(ctx)
			Expect(b.images.asked).To(Equal(asked + 1))
		}
	})

	It("says nothing when its registry does not", func(ctx SpecContext) {
		b, clock := watched(ctx)
		for _, err := range []error{imageref.ErrUnreachable, imageref.ErrNotFound, imageref.ErrUnauthorized} {
			b.images.err = fmt.Errorf("%w: registry.example", err)
			clock.SetTime(clock.Now().Add(b.reconcile(ctx).RequeueAfter))
			b.rests(ctx)
		}
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
	})

	It("S10: is asked about, though its registry did not answer the operator at first", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Command = []string{"node"} })
		b.Options.ImageCheckInterval, b.Options.StartDeadline = time.Hour, 24*time.Hour
		b.Options.Allowed.NodeImages = true
		b.images.err = fmt.Errorf("%w: registry.example", imageref.ErrUnauthorized)
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("ImageAmbiguous", "ResolvedByNode"))
		clock := clocktesting.NewFakePassiveClock(time.Now())
		b.Clock = clock
		b.rests(ctx)
		clock.SetTime(clock.Now().Add(b.reconcile(ctx).RequeueAfter))
		b.rests(ctx)
		b.images.err = nil
		clock.SetTime(clock.Now().Add(b.reconcile(ctx).RequeueAfter))
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerImageChanged))
		Expect(b.audit(ctx)).NotTo(haveCondition("ImageAmbiguous", "ResolvedByNode"))
	})

	DescribeTable("is not asked about", func(ctx SpecContext, change func(*v1alpha1.MCPServerAudit)) {
		b, clock := watched(ctx, change)
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = a.Annotations["suspend"] != "" })
		b.reconcile(ctx)
		asked := b.images.asked
		Expect(b.reconcile(ctx).RequeueAfter).To(BeZero())
		clock.SetTime(clock.Now().Add(24 * time.Hour))
		b.rests(ctx)
		Expect(b.images.asked).To(Equal(asked))
	},
		Entry("if there is none", func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = "registry.example/notes@" + sha("a") }),
		Entry("if it is suspended", func(a *v1alpha1.MCPServerAudit) { a.Annotations = map[string]string{"suspend": "yes"} }),
	)
})
