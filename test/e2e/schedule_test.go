//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// everyMinute is the shortest schedule that cron has.
func everyMinute(a *v1alpha1.MCPServerAudit) {
	a.Spec.Schedule = &v1alpha1.Schedule{Cron: "* * * * *", TimeZone: "Europe/Berlin"}
}

// awaitRun waits for the verdict of a later run than the one that is in the status.
func awaitRun(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	last := audit.Status.Trigger.Run
	await(ctx, audit, func(g Gomega) {
		g.Expect(audit.Status.Trigger.Run).NotTo(Equal(last), "no other run since %s; next is due %s", audit.Status.LastAuditTime, audit.Status.NextAuditTime)
	})
}

var _ = Describe("A schedule", func() {
	It("has a server audited again, and finds the rug-pull in between", func(ctx context.Context) {
		tag := "drift:" + namespace
		moveTag(ctx, "drift:v1", tag)
		audit := settled(ctx, newAudit(tag, everyMinute))
		expectPass(audit)
		Expect(audit.Status.NextAuditTime).NotTo(BeNil())
		Expect(audit.Status.NextAuditTime.Sub(audit.Status.LastAuditTime.Time)).To(BeNumerically("<=", 70*time.Second))

		awaitRun(ctx, audit)
		Expect(audit.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerScheduleDue))
		expectPass(audit)

		By("moving the tag between two audits")
		moveTag(ctx, "drift:v2", tag)
		awaitRun(ctx, audit)
		// A reconcile that happens to come before the schedule is due sees the other image.
		Expect(audit.Status.Trigger.Reason).To(BeElementOf(v1alpha1.TriggerScheduleDue, v1alpha1.TriggerImageChanged))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
		Expect(condition(audit, v1alpha1.ConditionManifestStable).Reason).To(Equal(v1alpha1.ReasonManifestDrifted))
		Expect(audit.Status.Drift.Changed).To(ContainElement("tool format_note"))
		Expect(audit.Status.History).To(HaveLen(3))
		Expect(audit.Status.History[0].Reason).To(Equal(v1alpha1.ReasonManifestDrifted))
		Expect(audit.Status.History[2].Trigger).To(Equal(v1alpha1.TriggerNeverAudited))

		By("suspending it")
		before := audit.DeepCopy()
		audit.Spec.Suspend = true
		Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
		await(ctx, audit, func(g Gomega) {
			g.Expect(audit.Status.NextAuditTime).To(BeNil())
			g.Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		})
	})

	It("that makes no sense is said to, and the audit begins once it is mended", func(ctx context.Context) {
		audit := newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Schedule = &v1alpha1.Schedule{Cron: "0 3 * * *", TimeZone: "Middle/Earth"}
		})
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		await(ctx, audit, func(g Gomega) {
			ready := condition(audit, v1alpha1.ConditionReady)
			g.Expect(ready.Reason).To(Equal(v1alpha1.ReasonInvalidSpec), conditions(audit))
			g.Expect(ready.Message).To(ContainSubstring("spec.schedule.timeZone"))
		})
		Expect(podsOf(ctx, audit)).To(BeEmpty())

		before := audit.DeepCopy()
		audit.Spec.Schedule.TimeZone = "Europe/Berlin"
		Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
		awaitVerdict(ctx, audit)
		expectPass(audit)
		Expect(audit.Status.NextAuditTime).NotTo(BeNil())
	})
})
