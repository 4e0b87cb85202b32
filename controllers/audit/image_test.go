//go:build envtest

package audit_test

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

var _ = Describe("an audit whose image cannot be had", func() {
	DescribeTable("says what is wrong with the image", func(ctx SpecContext, cause error, fix string) {
		b := newBench(ctx, retries(0))
		b.images.err = fmt.Errorf("%w: registry.example/notes:v1", cause)
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "ImageUnresolvable"), haveCondition("Audited", "ImagePullFailed"), haveCondition("Stalled", "ImageUnresolvable")))
		Expect(message(a, "Ready")).To(ContainSubstring(fix))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(a.Status.Audited).To(HaveValue(And(HaveField("Image", "registry.example/notes:v1"), HaveField("Digests", BeEmpty()))))
		Expect(b.reconcile(ctx)).To(Equal(ctrl.Result{}), "nothing is tried again by itself")
	},
		Entry("not found", imageref.ErrNotFound, "Check spec.server.image"),
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
		status := b.audit(ctx).Status
		Expect(status.ImageDigest).To(BeEquivalentTo(sha("a")), "by the kubelet's word")
		Expect(status.Audited).To(HaveValue(And(
			HaveField("Image", "registry.example/notes:v1"), HaveField("Digests", HaveExactElements(BeEquivalentTo(sha("a")))),
			HaveField("Platform", "linux/unknown"), // there is no node here
			HaveField("ArgvDigest", v1alpha1.CommandDigest([]string{"node", "server.js"}, nil)))))
	},
		Entry(nil, imageref.ErrNotFound), Entry(nil, imageref.ErrUnauthorized), Entry(nil, imageref.ErrUnreachable),
	)
})
