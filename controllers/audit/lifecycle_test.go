//go:build envtest

package audit_test

import (
	"errors"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

var _ = Describe("an audit", func() {
	It("runs the image by digest with its own entrypoint, and passes an honest server", func(ctx SpecContext) {
		b := newBench(ctx)
		Expect(kstatus(b.audit(ctx))).To(Equal(status.InProgressStatus), "a new object is never Current")

		b.reconcile(ctx)
		pod, a := b.pod(ctx), b.audit(ctx)
		server := pod.Spec.Containers[0]
		Expect(server.Image).To(Equal("registry.example/notes@" + sha("a")))
		Expect(server.Args).To(Equal([]string{"/notes", "--stdio"}))
		Expect(a.Finalizers).To(ContainElement(v1alpha1.Finalizer))
		Expect(a).To(And(haveCondition("Ready", "Running"), haveCondition("Audited", "NotYetAudited"),
			haveCondition("Auditing", "Running"), haveCondition("Reconciling", "Running"), haveCondition("Stalled", "")))
		Expect(a.Status.Phase).To(Equal(v1alpha1.PhaseRunning))
		Expect(kstatus(a)).To(Equal(status.InProgressStatus))
		Expect(b.events.list()).To(ConsistOf(ContainSubstring("AuditStarted: Auditing registry.example/notes@")))

		b.finish(ctx, pod, clean())
		b.reconcile(ctx)
		a = b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("Audited", "Completed"), haveCondition("ManifestStable", "FirstUse"),
			haveCondition("Auditing", "Idle"), haveCondition("Reconciling", ""), haveCondition("Stalled", "")))
		Expect(kstatus(a)).To(Equal(status.CurrentStatus))
		Expect(a.Status.Verdict).To(Equal(v1alpha1.VerdictPass))
		Expect(a.Status.ObservedGeneration).To(Equal(a.Generation))
		Expect(a.Status.ImageDigest).To(BeEquivalentTo(sha("a")))
		Expect(a.Status.BaselineDigest).To(BeEquivalentTo(sha("1")))
		Expect(a.Status.Findings).To(HaveValue(BeZero()))
		Expect(a.Status.Tools).To(Equal([]v1alpha1.ToolDigest{{Name: "format_note", Digest: v1alpha1.Digest(sha("2"))}}))
		Expect(a.Status.Runner).To(HaveValue(Equal(v1alpha1.Runner{Version: "v0.1.0", Tracer: "strace 6.1"})))
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerNeverAudited))
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.events.list()).To(ContainElement(HavePrefix("AuditPassed: Pass, of 1 of 1 tools: no findings.")))
	})

	It("fails a leaky server and says what it did", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean(leaks))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "FindingsAboveThreshold"), haveCondition("Stalled", "FindingsAboveThreshold"), haveCondition("Audited", "Completed")))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		Expect(message(a, "Ready")).To(And(ContainSubstring("2 findings at or above High"), ContainSubstring(".ssh/id_rsa"),
			ContainSubstring("93.184.216.34:80"), ContainSubstring("[High] Tool format_note read"), ContainSubstring(a.Status.ReportRef.Name)))
		Expect(a.Status.Findings.High).To(BeEquivalentTo(2))
		Expect(a.Status.Audited).To(HaveValue(And(
			HaveField("Image", "registry.example/notes:v1"), HaveField("Digests", HaveExactElements(BeEquivalentTo(sha("a")))), HaveField("ImageID", BeEquivalentTo(sha("c"))),
			HaveField("Platform", ""), HaveField("CommandDigest", v1alpha1.CommandDigest(nil, nil)),
			HaveField("ArgvDigest", v1alpha1.CommandDigest([]string{"/notes", "--stdio"}, nil)),
			HaveField("Unsuppressed", HaveValue(HaveField("High", BeEquivalentTo(2)))))))
		Expect(a.Status.TopFindings).To(HaveLen(2))
		Expect(a.Status.TopFindings[0].Evidence).To(Equal("2026-01-02T03:04:05.000Z pid 7: openat(...)"))
		Expect(b.events.list()).To(ContainElement(HavePrefix("AuditFailed: 2 findings")))

		reports := b.reports(ctx)
		Expect(reports).To(HaveLen(1))
		Expect(reports[0].Name).To(Equal(a.Status.ReportRef.Name))
		Expect(metav1.IsControlledBy(&reports[0], a)).To(BeTrue())
		Expect(reports[0].Spec.Verdict).To(Equal(v1alpha1.VerdictFail))
		Expect(reports[0].Spec.Findings[0].Evidence[0].Syscall).To(Equal("openat"))
	})

	It("writes nothing when nothing changed", func(ctx SpecContext) {
		b := newBench(ctx)
		unchanged := func() {
			GinkgoHelper()
			before := b.audit(ctx).ResourceVersion
			b.reconcile(ctx)
			Expect(b.audit(ctx).ResourceVersion).To(Equal(before))
		}
		b.reconcile(ctx)
		unchanged()
		pod := b.pod(ctx)
		b.status(ctx, pod, func(s *corev1.PodStatus) {
			s.ContainerStatuses = []corev1.ContainerStatus{running("server"), running("runner")}
		})
		b.reconcile(ctx)
		unchanged()
		Expect(b.pod(ctx).UID).To(Equal(pod.UID), "no second Pod")
		b.ends(ctx, clean(leaks))
		unchanged()
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.events.list()).To(HaveLen(2))
	})

	It("is made again on request, without a flap", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.request(ctx, "2026-01-02")
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("Auditing", "Running"), haveCondition("Reconciling", "")))
		Expect(kstatus(a)).To(Equal(status.CurrentStatus))

		By("finishing what is in progress before answering the next request")
		first := b.pod(ctx)
		b.request(ctx, "2026-01-03")
		b.reconcile(ctx)
		Expect(b.pod(ctx).UID).To(Equal(first.UID))

		b.ends(ctx, clean(leaks))
		a = b.audit(ctx)
		Expect(a.Status.LastHandledReconcileAt).To(Equal("2026-01-02"))
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerRequested))
		Expect(a).To(And(haveCondition("Ready", "FindingsAboveThreshold"), haveCondition("Stalled", "FindingsAboveThreshold")))

		b.audited(ctx, clean())
		a = b.audit(ctx)
		Expect(a.Status.LastHandledReconcileAt).To(Equal("2026-01-03"))
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("Stalled", "")))
		Expect(b.reports(ctx)).To(HaveLen(3))
	})

	It("of a server that runs elsewhere needs no image, and passes nothing", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server = v1alpha1.Server{URL: "https://mcp.example.com/mcp"}
		})
		b.images.err = errors.New("there is no image to resolve")
		b.reconcile(ctx)
		pod := b.pod(ctx)
		Expect(pod.Spec.InitContainers).To(BeEmpty())
		Expect(pod.Spec.Containers).To(HaveLen(1))
		Expect(pod.Spec.Containers[0].SecurityContext.Capabilities.Add).To(BeEmpty())
		Expect(pod.Labels).To(HaveKeyWithValue(podspec.LabelNetwork, podspec.NetworkRemote))
		Expect(b.events.list()).To(ConsistOf(ContainSubstring("AuditStarted: Auditing https://mcp.example.com/mcp in Pod")))

		summary, log := written(clean(inconclusive(report.ReasonNotTraced), func(r *report.Report) {
			r.Server.URL, r.Server.Transport, r.Server.Command, r.Tracer = "https://mcp.example.com/mcp", report.TransportStreamableHTTP, nil, report.Component{}
		}))
		b.logs.write(pod.Name, log)
		b.status(ctx, pod, func(s *corev1.PodStatus) {
			s.Phase, s.ContainerStatuses = corev1.PodSucceeded, []corev1.ContainerStatus{ended(podspec.ContainerRunner, 0, "Completed", summary)}
		})
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Audited", "NotTraced"), haveCondition("Ready", "AuditInconclusive"), haveCondition("ManifestStable", "FirstUse")))
		Expect(message(a, "Ready")).To(ContainSubstring("give spec.server.image"))
		Expect(a.Status.ImageDigest).To(BeEmpty())
		Expect(a.Status.Runner.Tracer).To(BeEmpty())
		Expect(b.reports(ctx)[0].Spec.Server.URL).To(Equal("https://mcp.example.com/mcp"))
		Expect(b.audit(ctx).Status.Audited).To(BeNil(), "no image was run")
		Expect(b.pods(ctx)).To(BeEmpty())
	})

	It("says that its inputs are too large", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Probe.Inputs = []v1alpha1.ToolInput{{Tool: "format_note", Arguments: runtime.RawExtension{
				Raw: []byte(`{"note":"` + strings.Repeat("a", v1alpha1.MaxInputBytes) + `"}`)}}}
		})
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Audited", "SandboxFailed"), haveCondition("Ready", "AuditInconclusive")))
		Expect(message(b.audit(ctx), "Audited")).To(ContainSubstring("spec.probe.inputs has"))
		Expect(b.pods(ctx)).To(BeEmpty())
	})

	It("is made again when the spec changes, and is not Current in between", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = "Low" })
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(haveCondition("Ready", "Passed"))
		Expect(kstatus(a)).To(Equal(status.InProgressStatus))
		outdated := b.pod(ctx)

		By("giving up an audit of an older spec")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = "Medium" })
		b.reconcile(ctx)
		Expect(b.pod(ctx).UID).NotTo(Equal(outdated.UID))
		b.ends(ctx, clean())
		a = b.audit(ctx)
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerSpecChanged))
		Expect(kstatus(a)).To(Equal(status.CurrentStatus))
	})

	It("is not made for a change that does not matter to it", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.HistoryLimit = new(int32(0)) })
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(kstatus(b.audit(ctx))).To(Equal(status.CurrentStatus))
	})

	It("waits while it is suspended", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = true })
		suspend := func(yes bool) {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = yes })
			b.reconcile(ctx)
		}
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Suspended"), haveCondition("Stalled", "Suspended")))
		Expect(b.audit(ctx).Status.Phase).To(Equal(v1alpha1.PhaseSuspended))

		suspend(false)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Running"), haveCondition("Stalled", "")))
		b.ends(ctx, clean())

		By("keeping the verdict while nothing is due, or only asked for")
		suspend(true)
		b.request(ctx, "now")
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		Expect(b.pods(ctx)).To(BeEmpty())

		By("taking it back when the spec changes")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = "registry.example/notes:v2" })
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Suspended"))
		Expect(kstatus(b.audit(ctx))).To(Equal(status.FailedStatus))
		for _, condition := range []string{"Audited", "ScopeConformant", "ManifestStable"} {
			Expect(meta.FindStatusCondition(b.audit(ctx).Status.Conditions, condition).ObservedGeneration).To(
				BeNumerically("<", b.audit(ctx).Generation), "%s is about the spec before", condition)
		}

		By("auditing again even if the change was taken back")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = "registry.example/notes:v1" })
		suspend(false)
		b.ends(ctx, clean())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Passed"), haveCondition("Stalled", "")))
	})

	It("leaves nothing behind when it is deleted", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(HaveLen(1))
		Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(api.Get(ctx, b.key, &v1alpha1.MCPServerAudit{})).To(MatchError(ContainSubstring("not found")))
		b.reconcile(ctx)
	})

	DescribeTable("says that its Pod was deleted by somebody, and does not begin anew by itself", func(ctx SpecContext, registry error, digest string) {
		b := newBench(ctx, retries(0))
		b.reconcile(ctx)
		Expect(api.Delete(ctx, b.pod(ctx))).To(Succeed())
		b.images.err = registry
		b.reconcile(ctx)
		Expect(b.audit(ctx).Status.ImageDigest).To(BeEquivalentTo(digest))
		b.images.err = nil
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "PodFailed"), haveCondition("Auditing", "Idle")))
		Expect(message(b.audit(ctx), "Audited")).To(ContainSubstring("disappeared before it could report"))
		Expect(b.reconcile(ctx)).To(BeZero())
		Expect(b.pods(ctx)).To(BeEmpty())
		b.request(ctx, "again")
		b.audited(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
	},
		Entry("with a registry that answers", nil, "sha256:"+strings.Repeat("a", 64)),
		Entry("with a registry that does not: a second Pod would run the server again", imageref.ErrUnreachable, ""))

	It("is not decided again by the Pod of an earlier run that does not go away", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		stuck := b.pod(ctx)
		stuck.Finalizers = []string{"example.com/node-is-gone"}
		Expect(api.Update(ctx, stuck)).To(Succeed())
		b.finish(ctx, stuck, clean(leaks))
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "FindingsAboveThreshold"))

		b.request(ctx, "1")
		b.reconcile(ctx)
		for _, pod := range b.pods(ctx) {
			if pod.UID != stuck.UID {
				b.finish(ctx, &pod, clean())
			}
		}
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		decided := b.audit(ctx).ResourceVersion
		Expect(b.reconcile(ctx)).To(BeZero())
		Expect(b.audit(ctx).ResourceVersion).To(Equal(decided))
		Expect(b.pods(ctx)).To(HaveLen(1))
		stuck = b.pod(ctx)
		stuck.Finalizers = nil
		Expect(api.Update(ctx, stuck)).To(Succeed())
	})

	It("keeps the reports of a request that goes back and forth", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		for _, value := range []string{"on", "off", "on"} {
			b.request(ctx, value)
			b.audited(ctx, clean(func(r *report.Report) { r.Message = value }))
		}
		Expect(b.reports(ctx)).To(HaveLen(4))
	})

	It("gives up a Pod on its way out when the spec comes back", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		first := b.pod(ctx)
		first.Finalizers = []string{"example.com/slow"}
		Expect(api.Update(ctx, first)).To(Succeed())
		for _, failOn := range []v1alpha1.FailOn{"Low", "High"} {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = failOn })
			b.reconcile(ctx)
		}
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Running"))
		Expect(b.pods(ctx)).To(HaveLen(2))
		Expect(api.Get(ctx, client.ObjectKeyFromObject(first), first)).To(Succeed())
		first.Finalizers = nil
		Expect(api.Update(ctx, first)).To(Succeed())
		b.ends(ctx, clean())
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
	})
})
