//go:build envtest

package audit_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// connects leaves of what was found what goes to the network.
func connects(r *report.Report) { r.Findings = r.Findings[1:] }

// accepts suppresses what goes to the network, and something that it does not.
func accepts(until time.Time) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) {
		for _, rule := range []string{"MCPA-EGRESS-001", "MCPA-FILE-001"} {
			a.Spec.Suppressions = append(a.Spec.Suppressions, report.Suppression{
				Rule: rule, Match: "*", Reason: "Reviewed by security.", Until: report.At(until),
			})
		}
	}
}

var _ = Describe("a suppression", func() {
	It("lets an audit pass, and is counted and shown", func(ctx SpecContext) {
		b := newBench(ctx, accepts(time.Now().Add(time.Hour)))
		b.audited(ctx, clean(leaks, connects))
		a := b.audit(ctx)
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictPass), message(a, "Ready"))
		Expect(a.Status.Findings.High).To(BeEquivalentTo(1))
		Expect(a.Status.Findings.Suppressed).To(BeEquivalentTo(1))
		Expect(message(a, "Ready")).To(ContainSubstring("suppressed: 1 High"))
		Expect(a.Status.TopFindings[0].Suppressed).To(ContainSubstring("Reviewed by security."))
		Expect(b.reports(ctx)[0].Spec.Findings[0].Suppressed.Reason).To(Equal("Reviewed by security."))
		Expect(b.events.list()).To(ContainElement(ContainSubstring("SuppressionUnused: No finding of MCPA-FILE-001 matches")))
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically("~", time.Hour, time.Minute), "when it ends, somebody has to look again")
	})

	It("has the server audited again when it ends, and fails it then", func(ctx SpecContext) {
		b := newBench(ctx, accepts(time.Now().Add(2*time.Second)))
		b.audited(ctx, clean(leaks, connects))
		Eventually(func(g Gomega) {
			b.reconcile(ctx)
			g.Expect(b.pods(ctx)).To(HaveLen(1))
		}).WithContext(ctx).Should(Succeed())
		b.ends(ctx, clean(leaks, connects))
		a := b.audit(ctx)
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerSuppressionExpired))
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		Expect(a.Status.TopFindings[0].Suppressed).To(HavePrefix("expired "))
		Expect(b.reconcile(ctx).RequeueAfter).To(BeZero())
	})

	It("counts for nothing when it is for longer than a year", func(ctx SpecContext) {
		b := newBench(ctx, accepts(time.Now().AddDate(2, 0, 0)))
		b.audited(ctx, clean(leaks, connects))
		Expect(b.audit(ctx).Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		Expect(b.events.list()).To(ContainElement(ContainSubstring("SuppressionIgnored: A suppression of the spec does not count: until")))
	})
})
