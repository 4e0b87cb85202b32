//go:build envtest

package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
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

	It("gives up a Pod that a policy refuses", func(ctx SpecContext) {
		b := newBench(ctx, retries(0))
		b.refuses("Pod")
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Queued"))
		b.reconcile(ctx)
		Expect(b.events.list()).To(ConsistOf(HavePrefix("AuditPodRefused: The audit Pod is refused in the run namespace")), "once, however long it waits")
		b.backdate(ctx)
		Expect(b.reconcile(ctx)).To(BeZero())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "SandboxFailed")))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("within 10m0s"), ContainSubstring("no tracing here")))
	})

	It("gives up without a run namespace", func(ctx SpecContext) {
		b := newBench(ctx)
		b.Options.RunNamespace = "missing"
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring(`namespaces "missing" not found`))
		b.backdate(ctx)
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "RunNamespaceUnusable")))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("The run namespace missing does not exist"), ContainSubstring("kubectl apply -k config/runs")))
		Expect(b.events.list()).To(ConsistOf(HavePrefix("RunNamespaceUnusable: The run namespace missing"), HavePrefix("RunNamespaceUnusable: The audit could not")))
	})

	It("says how a run namespace is made privileged", func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "runs-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}}}
		Expect(api.Create(ctx, namespace)).To(Succeed())
		b := newBench(ctx)
		b.Options.RunNamespace = namespace.Name
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		fix := "kubectl label --overwrite namespace " + namespace.Name + " pod-security.kubernetes.io/enforce=privileged"
		Expect(message(b.audit(ctx), "Auditing")).To(And(ContainSubstring(fix), ContainSubstring("violates PodSecurity")))
		Expect(b.events.list()).To(ConsistOf(And(HavePrefix("RunNamespaceUnusable: "), ContainSubstring(fix))))

		By("doing so")
		namespace.Labels["pod-security.kubernetes.io/enforce"] = "privileged"
		Expect(api.Update(ctx, namespace)).To(Succeed())
		Eventually(func(g Gomega) {
			b.reconcile(ctx)
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Running"))
		}).WithTimeout(20 * time.Second).Should(Succeed())
	})

	DescribeTable("can be deleted without a role in the run namespace", func(ctx SpecContext, runs string, ends bool) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.Options.RunNamespace = runs
		b.Client = b.intercept(interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
			},
		})
		Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err == nil).To(Equal(ends))
		Expect(apierrors.IsNotFound(api.Get(ctx, b.key, &v1alpha1.MCPServerAudit{}))).To(Equal(ends))
	},
		Entry("if the namespace is gone", "missing", true), Entry("but not if it is there", runNamespace, false),
	)

	DescribeTable("says what is wrong with the image", func(ctx SpecContext, cause error, fix string) {
		b := newBench(ctx, retries(0))
		b.images.err = fmt.Errorf("%w: registry.example/notes:v1", cause)
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "ImageUnresolvable"), haveCondition("Audited", "ImagePullFailed"), haveCondition("Stalled", "ImageUnresolvable")))
		Expect(message(a, "Ready")).To(ContainSubstring(fix))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.reconcile(ctx)).To(Equal(ctrl.Result{}), "nothing is tried again by itself")
	},
		Entry("not found", imageref.ErrNotFound, "Correct spec.server.image"),
		Entry("unauthorized", imageref.ErrUnauthorized, "spec.server.imagePullSecrets"),
		Entry("invalid", imageref.ErrInvalid, "invalid"),
		Entry("bad secret", imageref.ErrBadSecret, "secret is unusable"),
	)

	It("asks for a command where the image has none", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.image.Entrypoint, b.images.image.Cmd = nil, nil
		b.reconcile(ctx)
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring("Set spec.server.command"))
	})

	It("tries an unreachable registry for a while", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.err = imageref.ErrUnreachable
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Queued"), haveCondition("Auditing", "Queued"), haveCondition("Reconciling", "Queued")))
		Expect(message(a, "Ready")).To(ContainSubstring("tried again for up to 10m0s: registry unreachable"))
		Expect(kstatus(a)).To(Equal(status.InProgressStatus))

		b.Options.ResolveDeadline = 0
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "ImageUnresolvable"), haveCondition("Audited", "ImagePullFailed")))
	})

	DescribeTable("leaves an image with a command to the kubelet", func(ctx SpecContext, cause error) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Command, a.Spec.Server.Args = []string{"node"}, []string{"server.js"}
		})
		b.images.err = cause
		b.reconcile(ctx)
		pod := b.pod(ctx)
		Expect(pod.Spec.Containers[0].Image).To(Equal("registry.example/notes:v1"))
		Expect(pod.Spec.Containers[0].ImagePullPolicy).To(Equal(corev1.PullIfNotPresent))
		Expect(pod.Spec.Containers[0].Args).To(Equal([]string{"node", "server.js"}))
		b.finish(ctx, pod, clean())
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		Expect(b.audit(ctx).Status.ImageDigest).To(BeEquivalentTo(sha("a")), "by the kubelet's word")
	},
		Entry(nil, imageref.ErrNotFound), Entry(nil, imageref.ErrUnauthorized), Entry(nil, imageref.ErrUnreachable),
	)

	It("waits for room in the run namespace", func(ctx SpecContext) {
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, Name: "full"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		Expect(api.Create(ctx, quota)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, quota)).To(Succeed()) })
		quota.Status.Hard = quota.Spec.Hard // there is no controller that would
		quota.Status.Used = quota.Spec.Hard
		Expect(api.Status().Update(ctx, quota)).To(Succeed())

		b := newBench(ctx)
		Eventually(func(g Gomega) { // until the API server's own cache has the quota
			for _, pod := range b.pods(ctx) {
				g.Expect(api.Delete(ctx, &pod)).To(Succeed())
			}
			g.Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Queued"))
		}).WithTimeout(20 * time.Second).Should(Succeed())
		Expect(message(b.audit(ctx), "Ready")).To(And(ContainSubstring("exceeded quota"), ContainSubstring("raise the ResourceQuota")))
		b.backdate(ctx)
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "Queued"), haveCondition("Auditing", "Queued")), "room comes, however late")
		Expect(strings.Count(strings.Join(b.events.list(), "\n"), "QuotaExceeded: ")).To(Equal(1))
	})

	It("is not run twice on a stale cache", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		stale := b.audit(ctx)
		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)
		after := b.audit(ctx)

		withWatch, err := client.NewWithWatch(config, client.Options{Scheme: api.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		b.Client = interceptor.NewClient(withWatch, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if into, ok := object.(*v1alpha1.MCPServerAudit); ok {
					stale.DeepCopyInto(into)
					return nil
				}
				return c.Get(ctx, key, object, options...)
			},
		})
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.audit(ctx).ResourceVersion).To(Equal(after.ResourceVersion))
	})

	It("keeps the Pod until the status is written", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(leaks))
		withWatch, err := client.NewWithWatch(config, client.Options{Scheme: api.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		b.Client = interceptor.NewClient(withWatch, interceptor.Funcs{
			SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
				return errors.New("the API server is away")
			},
		})
		_, err = b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err).To(MatchError(ContainSubstring("the API server is away")))
		Expect(b.pods(ctx)).To(HaveLen(1))
		Expect(b.reports(ctx)).To(HaveLen(1), "the report comes before the status")
		Expect(b.events.list()).To(HaveLen(1), "nothing is announced that is not written")

		b.Client = api
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "FindingsAboveThreshold"))
		Expect(b.reports(ctx)).To(HaveLen(1))
		Expect(b.pods(ctx)).To(BeEmpty())
	})

	It("is not lost for a report that the API server refuses", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(leaks, func(r *report.Report) { r.Findings[0].Rule = strings.Repeat("R", 300) }))
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">=", time.Second), "somebody may apply other CRDs")
		b.backdate(ctx)
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Audited", "ReportLost"), haveCondition("Ready", "FindingsAboveThreshold")))
		Expect(a.Status.ReportRef).To(BeNil())
	})

	DescribeTable("stores the largest report that a runner may make, and a status with every cap used", func(ctx SpecContext, of string) {
		b := newBench(ctx)
		text := strings.Repeat(of, 1<<20/len(of))
		b.audited(ctx, clean(leaks, func(r *report.Report) {
			r.Server.Stderr, r.Server.Command = text, []string{text, text}
			for i := range 10_000 {
				r.Manifest.Tools = append(r.Manifest.Tools, report.Item{Name: fmt.Sprint(i) + text[:1200], Title: text, Description: text, Definition: text, Digest: sha("5")})
			}
			for i := range 1_000 {
				r.Findings = append(r.Findings, r.Findings[i%2])
				r.Findings[i].Message, r.Findings[i].Capability.Name = text, text
				r.Findings[i].Evidence = []report.Evidence{{Time: r.StartTime, Syscall: "openat", Detail: text}}
				r.Profile.Capabilities = append(r.Profile.Capabilities, report.CapabilityProfile{
					Kind: report.CapabilityTool, Name: text, Phase: report.PhaseCall,
					Reads:    []report.FileAccess{{Path: text, Operation: "openat", Count: 1}},
					Execs:    []report.Exec{{Path: text, Argv: []string{text}, Count: 1}},
					Connects: []report.Connection{{Address: text, Host: text, Protocol: "tcp", Port: 80, Count: 1}},
				})
				r.Errors = append(r.Errors, text)
			}
		}))
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "FindingsAboveThreshold"), haveCondition("Audited", "ReportTruncated")))
		Expect(a.Status.ReportRef).NotTo(BeNil())
		Expect(a.Status.TopFindings).To(HaveLen(v1alpha1.MaxTopFindings))
		Expect(a.Status.Findings.High).To(BeNumerically(">=", 20))
		Expect(b.reports(ctx)).To(HaveLen(1))
		stored := b.reports(ctx)[0].Spec
		Expect(stored.Verdict).To(Equal(v1alpha1.VerdictFail))
		Expect(stored.Truncated).To(ContainElement(HaveField("Field", "manifest.tools")))
		encoded, err := json.Marshal(stored)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(encoded)).To(BeNumerically("<=", report.MaxBytes+8<<10), "the report with what the manager adds")
		encoded, err = json.Marshal(a.Status)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(encoded)).To(BeNumerically("<", 80_000))
	},
		Entry("text", "x"), Entry("wide", "<\U0001f600\""), Entry("controls", "\x01"), Entry("separators", "\u2028\u202e"), Entry("broken", "\xff"),
	)

	It("survives the loss of the status", func(ctx SpecContext) {
		b := newBench(ctx)
		b.audited(ctx, clean())
		a := b.audit(ctx)
		a.Status = v1alpha1.MCPServerAuditStatus{ObservedGeneration: -1}
		Expect(api.Status().Update(ctx, a)).To(Succeed())
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(leaks))
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err).To(MatchError(ContainSubstring("is replaced")))
		b.reconcile(ctx)
		Expect(b.reports(ctx)).To(HaveLen(1))
		Expect(b.reports(ctx)[0].Spec.Verdict).To(Equal(v1alpha1.VerdictFail))
	})

	It("keeps everything while the API server refuses the status, and tells it once", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean(leaks))
		b.Client = b.intercept(interceptor.Funcs{
			SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
				return apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind("MCPServerAudit").GroupKind(), "notes", nil)
			},
		})
		for range 3 {
			Expect(b.reconcile(ctx).RequeueAfter).To(Equal(time.Minute), "no hot loop")
		}
		Expect(b.pods(ctx)).To(HaveLen(1))
		Expect(b.events.list()).To(ConsistOf(HavePrefix("AuditStarted: "), And(HavePrefix("StatusRefused: "), ContainSubstring("apply the CRDs"))))

		By("applying the CRDs of this version")
		b.Client = api
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Ready", "FindingsAboveThreshold"))
		Expect(b.reports(ctx)).To(HaveLen(1))
		Expect(b.pods(ctx)).To(BeEmpty())
	})

	It("tells everybody that the manager cannot go on", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.err = errors.New("out of file descriptors")
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err).To(HaveOccurred())
		Expect(message(b.audit(ctx), "Reconciling")).To(ContainSubstring("tried again: resolve: out of file descriptors"))
	})
})
