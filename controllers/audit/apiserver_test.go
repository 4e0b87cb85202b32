//go:build envtest

package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var _ = Describe("an audit that the API server fails", func() {
	It("is not run twice on a stale cache", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		stale := b.audit(ctx)
		b.ends(ctx, clean())
		after := b.audit(ctx)

		b.Client = b.intercept(interceptor.Funcs{
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
		b.Client = b.intercept(interceptor.Funcs{
			SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
				return errors.New("the API server is away")
			},
		})
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
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
