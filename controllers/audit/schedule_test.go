//go:build envtest

package audit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

func retries(n int32) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.RetryLimit = new(n) }
}

func cron(expression string) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.Schedule = &v1alpha1.Schedule{Cron: expression} }
}

// ages lets the last audit have been decided longer ago.
func (b *bench) ages(ctx context.Context, by time.Duration) {
	GinkgoHelper()
	a := b.audit(ctx)
	a.Status.LastAuditTime.Time = a.Status.LastAuditTime.Add(-by)
	Expect(api.Status().Update(ctx, a)).To(Succeed())
}

// rests reconciles, and expects that nothing is written and nothing is run.
func (b *bench) rests(ctx context.Context) {
	GinkgoHelper()
	before := b.audit(ctx).ResourceVersion
	b.reconcile(ctx)
	Expect(b.audit(ctx).ResourceVersion).To(Equal(before), "something was written")
	Expect(b.pods(ctx)).To(BeEmpty())
}

// reason runs the audit that is due, and returns why it was.
func (b *bench) reason(ctx context.Context, change ...func(*report.Report)) v1alpha1.TriggerReason {
	GinkgoHelper()
	b.audited(ctx, clean(change...))
	return b.audit(ctx).Status.Trigger.Reason
}

var _ = Describe("a status that was restored with its object", func() {
	It("gives no verdict on a spec that it is not about, though the generation is the same", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.ages(ctx, time.Hour) // it is older than the object
		b.rests(ctx)
		a := b.audit(ctx)
		a.Status.Trigger.SpecDigest = v1alpha1.Digest(sha("f"))
		Expect(api.Status().Update(ctx, a)).To(Succeed())
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerSpecChanged))
		Expect(b.audit(ctx).Status.Trigger.Message).To(ContainSubstring("restored from a backup"))
		b.rests(ctx)
	})
})

var _ = Describe("a schedule", func() {
	daily := func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Schedule = &v1alpha1.Schedule{Interval: &metav1.Duration{Duration: 24 * time.Hour}}
	}

	It("has the server audited again, and shows when", func(ctx SpecContext) {
		b := newBench(ctx, daily)
		b.audited(ctx, clean())
		a := b.audit(ctx)
		Expect(a.Status.NextAuditTime.Time).To(BeTemporally("~", a.Status.LastAuditTime.Add(24*time.Hour+5*time.Minute), 5*time.Minute))
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically("~", time.Until(a.Status.NextAuditTime.Time), time.Minute))
		b.rests(ctx)

		By("not flapping while it does")
		b.ages(ctx, 25*time.Hour)
		b.reconcile(ctx)
		a = b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("Auditing", "Running"), haveCondition("Reconciling", "")))
		Expect(kstatus(a)).To(Equal(status.CurrentStatus))
		Expect(b.events.list()).To(ContainElement(And(HavePrefix("AuditStarted: "), ContainSubstring("(ScheduleDue): spec.schedule had it due at"))))
		b.ends(ctx, clean())
		a = b.audit(ctx)
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerScheduleDue))
		Expect(a.Status.NextAuditTime.Time).To(BeTemporally(">", time.Now().Add(23*time.Hour)), "what was missed is made up for by one")
		b.rests(ctx)
	})

	It("that changes is written down once, and is no reason to audit", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		Expect(b.audit(ctx).Status.NextAuditTime).To(BeNil())
		for _, change := range []func(*v1alpha1.MCPServerAudit){daily, cron("0 3 * * *"), func(a *v1alpha1.MCPServerAudit) { a.Spec.Schedule = nil }} {
			b.change(ctx, change)
			before := b.audit(ctx).ResourceVersion
			b.reconcile(ctx)
			a := b.audit(ctx)
			Expect(a.ResourceVersion).NotTo(Equal(before))
			Expect(kstatus(a)).To(Equal(status.CurrentStatus))
			Expect(a.Status.NextAuditTime != nil).To(Equal(a.Spec.Schedule != nil))
			b.rests(ctx)
		}
		Expect(b.reports(ctx)).To(HaveLen(1))
	})

	It("is suspended with the audit", func(ctx SpecContext) {
		b := newBench(ctx, daily)
		b.audited(ctx, clean())
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = true })
		b.ages(ctx, 25*time.Hour)
		Expect(b.reconcile(ctx).RequeueAfter).To(BeZero())
		Expect(b.audit(ctx).Status.NextAuditTime).To(BeNil())
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"), "the verdict stands, it is only not renewed")
		b.rests(ctx)
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = false })
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerScheduleDue))
	})

	It("that can never be followed stops everything, and says so", func(ctx SpecContext) {
		b := newBench(ctx, cron("0 0 30 2 *"))
		Expect(b.reconcile(ctx)).To(BeZero())
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "InvalidSpec"), haveCondition("Stalled", "InvalidSpec"), haveCondition("Auditing", "Idle")))
		Expect(message(a, "Ready")).To(ContainSubstring(`spec.schedule.cron "0 0 30 2 *" never fires`))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		b.rests(ctx)

		By("beginning when it is corrected")
		b.change(ctx, cron("@daily"))
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Running"), haveCondition("Stalled", "")))

		By("finishing what runs when it becomes invalid, and keeping the verdict")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Schedule = &v1alpha1.Schedule{Cron: "@daily", TimeZone: "Europe/Atlantis"}
		})
		b.ends(ctx, clean())
		a = b.audit(ctx)
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictPass))
		Expect(a.Status.NextAuditTime).To(BeNil())
		Expect(a).To(And(haveCondition("Ready", "InvalidSpec"), haveCondition("Audited", "Completed")))
		Expect(message(a, "Ready")).To(ContainSubstring(`spec.schedule.timeZone "Europe/Atlantis"`))
		Expect(a.Status.Phase).To(Equal(v1alpha1.PhasePending))

		By("saying nothing of another spec")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = "registry.example/notes:v3" })
		b.reconcile(ctx)
		a = b.audit(ctx)
		Expect(a.Status.ObservedGeneration).To(Equal(a.Generation))
		for _, condition := range []string{"Audited", "ScopeConformant", "ManifestStable"} {
			Expect(meta.FindStatusCondition(a.Status.Conditions, condition).ObservedGeneration).To(BeNumerically("<", a.Generation), condition)
		}
		b.request(ctx, "now")
		b.rests(ctx)

		By("giving a verdict again when it is corrected, after however long a wait")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Schedule.TimeZone = "Europe/Berlin" })
		b.images.err = imageref.ErrUnreachable
		for range 3 {
			b.reconcile(ctx)
			Expect(b.audit(ctx)).To(And(haveCondition("Ready", "ResolvingImage"), haveCondition("Reconciling", "ResolvingImage"), haveCondition("Stalled", "")))
		}
		b.images.err = nil
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Passed"), haveCondition("Stalled", "")))
		b.rests(ctx)
	})
})

var _ = Describe("what comes by itself", func() {
	It("is a retry, after a pause that doubles, as often as the spec says", func(ctx SpecContext) {
		b := newBench(ctx, retries(2))
		lost := inconclusive(report.ReasonTracerLost)
		b.audited(ctx, clean(lost))
		for i, pause := range []time.Duration{5 * time.Minute, 10 * time.Minute} {
			a := b.audit(ctx)
			Expect(a.Status.ConsecutiveFailures).To(BeEquivalentTo(i + 1))
			Expect(a.Status.NextAuditTime.Sub(a.Status.LastAuditTime.Time)).To(Equal(pause))
			b.rests(ctx)
			b.ages(ctx, pause)
			Expect(b.reason(ctx, lost)).To(Equal(v1alpha1.TriggerRetryDue))
		}
		Expect(b.audit(ctx).Status.NextAuditTime).To(BeNil())
		b.ages(ctx, 24*time.Hour)
		b.rests(ctx)

		By("counting anew after a verdict")
		b.request(ctx, "1")
		b.audited(ctx, clean())
		Expect(b.audit(ctx).Status.ConsecutiveFailures).To(BeZero())
		b.request(ctx, "2")
		b.audited(ctx, clean(lost))
		Expect(b.audit(ctx).Status.NextAuditTime).NotTo(BeNil())
	})

	It("is a retry of an audit that had no Pod", func(ctx SpecContext) {
		b := newBench(ctx)
		entrypoint := b.images.image.Entrypoint
		b.images.image.Entrypoint, b.images.image.Cmd = nil, nil
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically("~", 5*time.Minute, 5*time.Second), "there is no Pod whose end would tell")
		b.images.image.Entrypoint = entrypoint
		b.ages(ctx, 5*time.Minute)
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerRetryDue))
	})

	It("is not what is a property of the server", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean(inconclusive(report.ReasonTimeout)))
		Expect(b.audit(ctx).Status.NextAuditTime).To(BeNil())
		b.ages(ctx, 24*time.Hour)
		b.rests(ctx)
	})

	It("is an audit by other rules, once", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.Options.RulesetDigest = sha("5")
		b.rests(ctx)
		b.request(ctx, "what is not known to be of other rules is left alone")
		b.audited(ctx, clean())
		b.Options.RulesetDigest = sha("6")
		Expect(b.reason(ctx, func(r *report.Report) { r.RulesetDigest = sha("7") })).To(Equal(v1alpha1.TriggerRulesetChanged))
		b.rests(ctx)
		Expect(b.audit(ctx).Status.Runner.RulesetDigest).To(Equal(sha("7")), "an older runner makes no endless loop")
	})

	It("is the renewal of an old verdict", func(ctx SpecContext) {
		b := newBench(ctx)
		b.Options.MaxVerdictAge = 10 * time.Hour
		b.audited(ctx, clean())
		a := b.audit(ctx)
		Expect(a.Status.NextAuditTime.Sub(a.Status.LastAuditTime.Time)).To(Equal(9 * time.Hour))
		b.ages(ctx, 9*time.Hour)
		Expect(b.reason(ctx)).To(Equal(v1alpha1.TriggerVerdictExpiring))
	})

	It("is an audit for another baseline; one in progress is held to it", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		pin := func(digest string) {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) {
				a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: v1alpha1.Digest(digest)}
			})
		}
		pin(sha("8"))
		b.reconcile(ctx)
		pod := b.pod(ctx)
		pin(sha("9"))
		b.reconcile(ctx)
		Expect(b.pod(ctx).UID).To(Equal(pod.UID), "the run is not thrown away")
		b.finish(ctx, pod, clean())
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerBaselineChanged))
		Expect(a.Status.BaselineDigest).To(BeEquivalentTo(sha("9")))
		Expect(a.Status.Trigger.Baseline).To(Equal("Pinned " + sha("9")))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		b.rests(ctx)
	})

	It("is not the work of an upgrade", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		a := b.audit(ctx)
		a.Status.Trigger.SpecDigest = v1alpha1.Digest(sha("0")) // an older operator read less of the spec
		Expect(api.Status().Update(ctx, a)).To(Succeed())
		b.rests(ctx)
	})

	It("fills a history", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		for i := range v1alpha1.MaxHistory + 1 {
			b.request(ctx, fmt.Sprint(i))
			b.audited(ctx, clean(inconclusive(report.ReasonNotExercised)))
		}
		b.request(ctx, "last")
		b.audited(ctx, clean(leaks))
		a := b.audit(ctx)
		Expect(a.Status.History).To(HaveLen(v1alpha1.MaxHistory))
		Expect(a.Status.History[0]).To(Equal(v1alpha1.HistoryEntry{
			Time: *a.Status.LastAuditTime, Verdict: v1alpha1.VerdictFail, Reason: "FindingsAboveThreshold", Trigger: v1alpha1.TriggerRequested,
			Run: a.Status.Trigger.Run, Assurance: report.AssuranceFull, ImageDigest: a.Status.ImageDigest, ManifestDigest: a.Status.ManifestDigest,
		}))
		Expect(a.Status.History[1]).To(And(HaveField("Reason", "NotExercised"), HaveField("Verdict", v1alpha1.VerdictInconclusive)))
		Expect(a.Status.ConsecutiveFailures).To(BeZero())
	})
})
