//go:build envtest

package audit_test

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/api/report"
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
	)

	It("S1: says which manifest to pin of an ambiguous index, and runs that", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.image.Digest, b.images.image.Ambiguous = sha("b"), "it has 2 manifests for linux/amd64"
		b.reconcile(ctx)
		Expect(b.pod(ctx).Spec.Containers[0].Image).To(Equal("registry.example/notes@" + sha("a")))
		b.ends(ctx, clean())
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
		Expect(a).To(And(haveCondition("Ready", "ResolvingImage"), haveCondition("Auditing", "ResolvingImage"), haveCondition("Reconciling", "ResolvingImage")))
		Expect(message(a, "Ready")).To(ContainSubstring("tried again for up to 10m0s: registry unreachable"))
		Expect(kstatus(a)).To(Equal(status.InProgressStatus))

		b.Options.ResolveDeadline = 0
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "ImageUnresolvable"), haveCondition("Audited", "ImagePullFailed")))
	})

	DescribeTable("leaves an image with a command to the kubelet, where the configuration allows node images", func(ctx SpecContext, cause error) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Command, a.Spec.Server.Args = []string{"node"}, []string{"server.js"}
		})
		b.Options.Allowed.NodeImages = true
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

	DescribeTable("S7: is not run by what the node has or may pull, whatever the command", func(ctx SpecContext, cause error) {
		b := newBench(ctx, retries(0), func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Command = []string{"sh", "-c", "cat /secret"} })
		b.Options.ResolveDeadline = 0
		b.images.err = cause
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "ImageUnresolvable"), haveCondition("Audited", "ImagePullFailed")))
		Expect(message(b.audit(ctx), "Ready")).NotTo(ContainSubstring("on the nodes"))
	},
		Entry(nil, imageref.ErrNotFound), Entry(nil, imageref.ErrUnauthorized), Entry(nil, imageref.ErrUnreachable),
	)

	It("L10: does not say whether a Secret exists, or of which type it is", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "x"}, {Name: "missing"}}
		})
		b.reconcile(ctx)
		missing := message(b.audit(ctx), "Auditing")
		Expect(b.audit(ctx)).To(haveCondition("Auditing", "ResolvingImage"))
		Expect(missing).To(ContainSubstring("x must be a Secret of type kubernetes.io/dockerconfigjson"))
		Expect(api.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "x"}, Type: corev1.SecretTypeOpaque})).To(Succeed())
		b.reconcile(ctx)
		Expect(message(b.audit(ctx), "Auditing")).To(Equal(missing))
		Expect(b.audit(ctx)).To(haveCondition("Auditing", "ResolvingImage"))
	})

	It("L8: is not pulled if it is too large, until the configuration allows it", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.image.Size = 20 << 30
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "NotAllowed"), haveCondition("Stalled", "NotAllowed"), haveCondition("Auditing", "Idle")))
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring("have 20Gi, more than allowed.maxImageSize (10Gi)"))
		b.Options.Allowed.MaxImageBytes = 30 << 30
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(HaveLen(1))
	})
})

var _ = Describe("an audit that the configuration does not allow", func() {
	It("S8: is not made, says which key decides, and is made once that allows it", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.Network = report.NetworkAllow })
		Expect(b.reconcile(ctx)).To(Equal(ctrl.Result{}), "nothing is tried again by itself")
		a := b.audit(ctx)
		Expect(a).To(And(haveCondition("Ready", "NotAllowed"), haveCondition("Stalled", "NotAllowed")))
		Expect(message(a, "Ready")).To(ContainSubstring("spec.sandbox.network: Allow is not allowed by allowed.networks"))
		Expect(kstatus(a)).To(Equal(status.FailedStatus))
		Expect(b.pods(ctx)).To(BeEmpty())
		b.Options.Allowed.Networks = []report.Network{report.NetworkAllow}
		b.reconcile(ctx)
		Expect(b.pod(ctx).Labels).To(HaveKeyWithValue("mcpaudit.dev/network", "Allow"))
	})

	It("S8: keeps no verdict that was made before the configuration was closed", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.Network = report.NetworkAllow })
		b.Options.Allowed.Networks = []report.Network{report.NetworkAllow}
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean())
		b.Options.Allowed.Networks = nil
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "NotAllowed"), haveCondition("Audited", "Completed")))
	})
})
