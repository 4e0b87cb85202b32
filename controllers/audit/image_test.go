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

	It("S1: says which manifest to pin of an ambiguous index, and runs that", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.image.Digest, b.images.image.Ambiguous = sha("b"), "it has 2 manifests for linux/amd64"
		b.reconcile(ctx)
		Expect(b.pod(ctx).Spec.Containers[0].Image).To(Equal("registry.example/notes@" + sha("a")))
		b.finish(ctx, b.pod(ctx), clean())
		b.reconcile(ctx)
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "Passed"), haveCondition("ImageAmbiguous", "AmbiguousIndex")))
		Expect(message(a, "ImageAmbiguous")).To(And(ContainSubstring("2 manifests"), HaveSuffix("image: registry.example/notes:v1@"+sha("a"))))
		Expect(a.Status.Audited).To(HaveValue(And(HaveField("Digests", HaveExactElements(BeEquivalentTo(sha("a")))),
			HaveField("AmbiguousDigest", BeEquivalentTo(sha("b"))), HaveField("ImageID", BeEquivalentTo(sha("c"))))))
	})

	DescribeTable("S1: compares what the kubelet ran with what the Pod names", func(ctx SpecContext, imageID, reason string) {
		b := newBench(ctx)
		b.images.image.Digest = sha("b") // an index, of which sha("a") is run
		b.reconcile(ctx)
		pod := b.pod(ctx)
		b.finish(ctx, pod, clean())
		pod = b.pod(ctx)
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].ImageID = imageID
		}
		Expect(b.Client.Status().Update(ctx, pod)).To(Succeed())
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Audited", reason))
	},
		Entry("the manifest", "registry.example/notes@"+sha("a"), "Completed"),
		Entry("the index, by which the node has the same image", "registry.example/notes@"+sha("b"), "Completed"),
		Entry("its ID", sha("c"), "Completed"),
		Entry("another manifest", "registry.example/notes@"+sha("d"), "ImageMismatch"),
		Entry("a manifest that is its config", "registry.example/notes@"+sha("c"), "ImageMismatch"),
		Entry("an ID that is its manifest", sha("a"), "ImageMismatch"),
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
			HaveField("Image", "registry.example/notes:v1"), HaveField("Digests", BeEmpty()), HaveField("AmbiguousDigest", BeEquivalentTo(sha("a"))),
			HaveField("Platform", "linux/unknown"), // there is no node here
			HaveField("ArgvDigest", v1alpha1.CommandDigest([]string{"node", "server.js"}, nil)))))
	},
		Entry(nil, imageref.ErrNotFound), Entry(nil, imageref.ErrUnauthorized), Entry(nil, imageref.ErrUnreachable),
	)
})
