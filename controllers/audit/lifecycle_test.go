//go:build envtest

package audit_test

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
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
		Expect(b.events.list()).To(ContainElement(HavePrefix("AuditPassed: The audit was complete: no findings.")))
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
		b.finish(ctx, b.pod(ctx), clean(leaks))
		b.reconcile(ctx)
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

		b.finish(ctx, b.pod(ctx), clean(leaks))
		b.reconcile(ctx)
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
		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)
		a = b.audit(ctx)
		Expect(a.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerSpecChanged))
		Expect(kstatus(a)).To(Equal(status.CurrentStatus))
	})

	It("is not made for a change that does not matter to it", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.HistoryLimit = ptr.To[int32](0) })
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
		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)

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

		By("auditing again even if the change was taken back")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Image = "registry.example/notes:v1" })
		suspend(false)
		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Passed"), haveCondition("Stalled", "")))
	})

	It("copies pull secrets for as long as the Pod lives", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}}
		})
		copies := func() []corev1.Secret {
			GinkgoHelper()
			var secrets corev1.SecretList
			Expect(api.List(ctx, &secrets, client.InNamespace(runNamespace), client.MatchingLabels{podspec.LabelNamespace: b.key.Namespace})).To(Succeed())
			return secrets.Items
		}
		b.reconcile(ctx)
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring("pull secret not found: registry in namespace " + b.key.Namespace))
		Expect(b.pods(ctx)).To(BeEmpty())

		Expect(api.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
		})).To(Succeed())
		b.reconcile(ctx)
		Expect(b.images.secrets).To(HaveLen(1))
		Expect(copies()).To(HaveLen(1))
		Expect(copies()[0].Data).To(HaveKeyWithValue(corev1.DockerConfigJsonKey, []byte(`{"auths":{}}`)))
		Expect(b.pod(ctx).Spec.ImagePullSecrets).To(ConsistOf(corev1.LocalObjectReference{Name: copies()[0].Name}))

		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)
		Expect(copies()).To(BeEmpty())
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

	It("begins anew when its Pod is deleted by somebody", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		lost := b.pod(ctx)
		Expect(api.Delete(ctx, lost)).To(Succeed())
		b.reconcile(ctx)
		Expect(b.pod(ctx).Name).To(Equal(lost.Name))
		Expect(b.pod(ctx).UID).NotTo(Equal(lost.UID))
	})
})
