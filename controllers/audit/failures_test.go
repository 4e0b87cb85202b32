//go:build envtest

package audit_test

import (
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func inconclusive(reason report.Reason) func(*report.Report) {
	return func(r *report.Report) {
		r.Verdict, r.Reason, r.Message = report.VerdictInconclusive, reason, "something was not seen"
	}
}

var _ = Describe("an audit that goes wrong", func() {
	DescribeTable("is inconclusive when the Pod fails", func(ctx SpecContext, reason, says string, containers ...corev1.ContainerStatus) {
		b := newBench(ctx)
		b.Options.PullDeadline = 0
		b.reconcile(ctx)
		b.status(ctx, b.pod(ctx), func(s *corev1.PodStatus) { s.ContainerStatuses = containers })
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictInconclusive))
		Expect(a).To(And(haveCondition("Audited", reason), haveCondition("ManifestStable", "ManifestIncomplete")))
		Expect(message(a, "Audited")).To(ContainSubstring(says))
		Expect(message(a, "Ready")).To(ContainSubstring(reason))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		Expect(a.Status.ReportRef).To(BeNil())
		Expect(a.Status.BaselineDigest).To(BeEmpty())
		Expect(b.reports(ctx)).To(BeEmpty())
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.events.list()).To(ContainElement(HavePrefix(reason + ": ")))
	},
		Entry("pull", "ImagePullFailed", "Back-off: not found", waits("server", "ImagePullBackOff", "Back-off: not found")),
		Entry("image name", "ImagePullFailed", "InvalidImageName", waits("server", "InvalidImageName", "bad")),
		Entry("memory of the runner", "OOMKilled", "runner ran out of memory", ended("runner", 137, "OOMKilled", "")),
		Entry("runner", "RunnerFailed", "exit status 1): no plan", ended("runner", 1, "Error", "no plan")),
		Entry("no summary", "RunnerFailed", "no summary", ended("server", 125, "", ""), ended("runner", 0, "Completed", "bye")),
		Entry("panic", "RunnerFailed", "panic: no idea", ended("runner", 2, "Error", "panic: no idea\n\ngoroutine 1 [running]:")),
		Entry("runtime", "SandboxFailed", "no such directory", ended("server", 128, "StartError", "no such directory")),
	)

	It("names the deadline of the Pod", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.status(ctx, b.pod(ctx), func(s *corev1.PodStatus) { s.Phase, s.Reason = corev1.PodFailed, "DeadlineExceeded" })
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Audited", "Timeout"), haveCondition("Ready", "AuditInconclusive")))
	})

	DescribeTable("is inconclusive with the reason of the report", func(ctx SpecContext, reason report.Reason) {
		b := newBench(ctx)
		b.audited(ctx, clean(inconclusive(reason)))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Audited", string(reason)), haveCondition("Ready", "AuditInconclusive"), haveCondition("Stalled", "AuditInconclusive")))
		Expect(a.Status.ReportRef).NotTo(BeNil())
	},
		Entry(nil, report.ReasonServerExited), Entry(nil, report.ReasonTimeout), Entry(nil, report.ReasonProtocolError), Entry(nil, report.ReasonTracerLost),
		Entry(nil, report.ReasonTracerUnavailable), Entry(nil, report.ReasonTraceOverflow), Entry(nil, report.ReasonReportTruncated), Entry(nil, report.ReasonSandboxFailed),
	)

	It("knows why the runner saw the server killed", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		pod := b.pod(ctx)
		summary, log := written(clean(inconclusive(report.ReasonServerExited)))
		b.logs.write(pod.Name, log)
		b.status(ctx, pod, func(s *corev1.PodStatus) {
			s.ContainerStatuses = []corev1.ContainerStatus{ended("server", 137, "OOMKilled", ""), ended("runner", 0, "Completed", summary)}
		})
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Audited", "OOMKilled"))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("The server ran out of memory."), ContainSubstring("spec.sandbox.resources.limits.memory")))
	})

	It("names the log that was rotated, at once", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		pod := b.pod(ctx)
		b.finish(ctx, pod, clean())
		_, log := written(clean())
		b.logs.write(pod.Name, log[len(log)-60:])
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Audited", "ReportLost"))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("rotated"), ContainSubstring("containerLogMaxSize")))
		Expect(b.pods(ctx)).To(BeEmpty())
	})

	It("does not believe a Pod that ran another image", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean())
		b.status(ctx, b.pod(ctx), func(s *corev1.PodStatus) { s.ContainerStatuses[0].ImageID = "registry.example/notes@" + sha("b") })
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Audited", "ImageMismatch"), haveCondition("Ready", "AuditInconclusive")))
	})

	It("waits for a log that lags, and not for ever", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		pod := b.pod(ctx)
		b.finish(ctx, pod, clean(leaks))
		_, other := written(clean())
		b.logs.write(pod.Name, other)
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Collecting"), haveCondition("Auditing", "Collecting")))
		Expect(b.pods(ctx)).To(HaveLen(1))

		b.backdate(ctx)
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Audited", "ReportLost"), haveCondition("Ready", "FindingsAboveThreshold")), "what the runner saw stays seen")
		Expect(a.Status.Findings.High).To(BeEquivalentTo(2))
	})

	It("does not give up the log at once that a manager comes late for", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		pod := b.pod(ctx)
		b.finish(ctx, pod, clean(leaks))
		b.status(ctx, pod, func(s *corev1.PodStatus) {
			s.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.NewTime(time.Now().Add(-time.Hour))
		})
		b.backdate(ctx)
		_, log := written(clean(leaks))
		b.logs.write(pod.Name, "")
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		b.logs.write(pod.Name, log)
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Audited", "Completed"), haveCondition("Ready", "FindingsAboveThreshold")))
	})

	It("does not keep a verdict back for a report that a policy refuses", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(leaks))
		b.refuses("MCPAuditReport")
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(message(b.audit(ctx), "Auditing")).To(ContainSubstring("cannot be stored yet: store report: admission webhook"))
		b.backdate(ctx)
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Audited", "ReportLost"), haveCondition("Ready", "FindingsAboveThreshold")))
		Expect(a.Status.ReportRef).To(BeNil())
		Expect(a.Status.TopFindings).To(HaveLen(2))
		Expect(b.pods(ctx)).To(BeEmpty())
	})
})
