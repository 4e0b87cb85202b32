//go:build envtest

package audit_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var _ = Describe("a baseline", func() {
	var (
		changed = advertises(sha("3"), sha("4"))
		drifted = &v1alpha1.DriftSummary{Changed: []string{"tool format_note"}}
	)

	It("is trusted on first use, and drift fails the audit", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.request(ctx, "1")
		b.audited(ctx, clean(changed))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "ManifestDrifted"), haveCondition("Stalled", "ManifestDrifted"),
			haveCondition("ManifestStable", "ManifestDrifted"), haveCondition("Audited", "Completed")))
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		Expect(a.Status.Drift).To(Equal(drifted))
		Expect(a.Status.BaselineDigest).To(BeEquivalentTo(sha("1")))
		Expect(a.Status.ManifestDigest).To(BeEquivalentTo(sha("3")))
		Expect(message(a, "Ready")).To(And(ContainSubstring("changed: tool format_note"), ContainSubstring("mode Pinned")))
		Expect(b.events.list()).To(ContainElement(HavePrefix("ManifestDrifted: ")))

		By("failing as long as nobody approves")
		b.request(ctx, "2")
		b.audited(ctx, clean(changed))
		Expect(b.audit(ctx)).To(haveCondition("ManifestStable", "ManifestDrifted"))

		By("passing once the change is pinned")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: v1alpha1.Digest(sha("3"))}
		})
		b.audited(ctx, clean(changed))
		a = b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("ManifestStable", "MatchesBaseline"), haveCondition("Stalled", "")))
		Expect(a.Status.Drift).To(BeNil())

		By("falling back to what was pinned")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Baseline = v1alpha1.Baseline{} })
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("ManifestStable", "ManifestDrifted"))
	})

	It("that is pinned is compared with the first audit already", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: v1alpha1.Digest(sha("9"))}
		})
		b.audited(ctx, clean())
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "ManifestDrifted"), haveCondition("ManifestStable", "BaselineMismatch")))
		Expect(a.Status.BaselineDigest).To(BeEquivalentTo(sha("9")))
		Expect(message(a, "Ready")).To(ContainSubstring("no report of the baseline is kept"))
	})

	It("can be done without, and is then forgotten", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Baseline.Mode = v1alpha1.BaselineNone })
		b.audited(ctx, clean(changed))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("ManifestStable", "NoBaseline")))
		Expect(a.Status.BaselineDigest).To(BeEmpty())
	})

	It("is not taken from a manifest that was listed in part", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean(inconclusive(report.ReasonTimeout), func(r *report.Report) {
			r.ManifestDigest, r.Manifest = "", report.Manifest{}
		}))
		Expect(b.audit(ctx)).To(haveCondition("ManifestStable", "ManifestIncomplete"))
		Expect(b.audit(ctx).Status.BaselineDigest).To(BeEmpty())
		b.request(ctx, "1")
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("ManifestStable", "FirstUse"))
	})

	It("is told apart from a change of what the server does", func(ctx SpecContext) {
		does := func(entries ...string) func(*report.Report) {
			return func(r *report.Report) { r.Behavior = report.BehaviorOf(entries, false) }
		}
		b := newBench(ctx)
		b.audited(ctx, clean(does("execute git")))
		Expect(b.audit(ctx).Status.BehaviorDigest).NotTo(BeEmpty())

		b.request(ctx, "1")
		b.audited(ctx, clean(does("execute git", "connect c2.example:443")))
		a := b.audit(ctx)
		Expect(a).To(haveCondition("ManifestStable", "MatchesBaseline"))
		Expect(a.Status.TopFindings).To(ConsistOf(And(
			HaveField("Rule", "MCPA-BEHAVIOR-001"), HaveField("Severity", "Medium"), HaveField("Message", ContainSubstring("c2.example:443")))))
		Expect(b.events.list()).To(ContainElement(ContainSubstring("BehaviorDrifted: ")))
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictPass), "which is below the threshold")

		By("failing by it, again and again, where the threshold says so")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = "Medium" })
		for i := range 2 {
			b.request(ctx, fmt.Sprint("again", i))
			b.audited(ctx, clean(does("execute git", "connect other.example:443")))
			Expect(b.audit(ctx).Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		}
	})

	It("is told apart from a change of what the server enables", func(ctx SpecContext) {
		enables := func(reach report.Reach) func(*report.Report) {
			e := report.ExposureOf([]report.ExposureItem{{Capability: report.Capability{Kind: report.CapabilityTool, Name: "run"},
				Kind: report.ExposesCommandExecution, Reach: reach, Basis: report.BasisProven}})
			return func(r *report.Report) { r.Exposure = &e }
		}
		b := newBench(ctx)
		b.audited(ctx, clean(enables(report.ReachBounded)))
		b.request(ctx, "1")
		b.audited(ctx, clean(enables(report.ReachArbitrary)))
		a := b.audit(ctx)
		Expect(a).To(haveCondition("ManifestStable", "MatchesBaseline"))
		Expect(a.Status.TopFindings).To(ConsistOf(And(HaveField("Rule", "MCPA-EXPOSURE-001"), HaveField("Severity", "Medium"),
			HaveField("Message", ContainSubstring("tool run: CommandExecution (Arbitrary), was Bounded")))))
		Expect(b.events.list()).To(ContainElement(ContainSubstring("ExposureDrifted: ")))
	})

	It("keeps its report when the history is pruned", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.HistoryLimit = new(int32(1)) })
		b.audited(ctx, clean())
		first := b.audit(ctx).Status.ReportRef.Name
		for i := range 4 {
			b.request(ctx, fmt.Sprint(i))
			b.audited(ctx, clean(changed))
		}
		var names []string
		for _, stored := range b.reports(ctx) {
			names = append(names, stored.Name)
		}
		// The baseline's, the latest, and one before it. Which one that is, is left
		// to the clock: ages have seconds.
		Expect(names).To(ContainElements(first, b.audit(ctx).Status.ReportRef.Name))
		Expect(names).To(Or(HaveLen(3), HaveLen(2)))
		Expect(b.audit(ctx).Status.Drift).To(Equal(drifted))
	})
})
