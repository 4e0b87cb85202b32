//go:build e2e

package e2e

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// moveTag lets a tag point to the image of another one, as a release does.
func moveTag(ctx context.Context, from, to string) {
	GinkgoHelper()
	source, err := name.ParseReference(registry + "/mcpaudit/" + from)
	Expect(err).NotTo(HaveOccurred())
	target, err := name.NewTag(registry + "/mcpaudit/" + to)
	Expect(err).NotTo(HaveOccurred())
	image, err := remote.Get(source, remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	Expect(remote.Tag(target, image, remote.WithContext(ctx))).To(Succeed())
}

var _ = Describe("A manifest that changes", func() {
	It("is drift when the tag moves to an image that advertises something else", func(ctx context.Context) {
		tag := "drift:" + namespace
		moveTag(ctx, "drift:v1", tag)
		audit := settled(ctx, newAudit(tag))
		expectPass(audit)
		trusted, image := audit.Status.BaselineDigest, audit.Status.ImageDigest
		Expect(trusted).To(Equal(audit.Status.ManifestDigest))

		By("auditing the same image again: no drift")
		rerun(ctx, audit)
		expectPass(audit)
		Expect(condition(audit, v1alpha1.ConditionManifestStable).Reason).To(Equal(v1alpha1.ReasonMatchesBaseline))

		By("moving the tag")
		moveTag(ctx, "drift:v2", tag)
		rerun(ctx, audit)
		Expect(audit.Status.ImageDigest).NotTo(Equal(image))
		Expect(audit.Status.BaselineDigest).To(Equal(trusted))
		Expect(audit.Status.ManifestDigest).NotTo(Equal(trusted))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		stable := condition(audit, v1alpha1.ConditionManifestStable)
		Expect(stable.Status).To(Equal(metav1.ConditionFalse))
		Expect(stable.Reason).To(Equal(v1alpha1.ReasonManifestDrifted))
		Expect(stable.Message).To(ContainSubstring("tool format_note"))
		Expect(audit.Status.Drift.Changed).To(ContainElement("tool format_note"))
		Expect(condition(audit, v1alpha1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonManifestDrifted))

		By("approving the new manifest in the spec")
		before := audit.DeepCopy()
		audit.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: audit.Status.ManifestDigest}
		Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
		awaitVerdict(ctx, audit)
		expectPass(audit)
		Expect(audit.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerBaselineChanged))
	})

	It("is a mismatch when it never was the pinned one", func(ctx context.Context) {
		pinned := v1alpha1.Digest("sha256:" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
		audit := settled(ctx, newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: pinned}
		}))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail))
		stable := condition(audit, v1alpha1.ConditionManifestStable)
		Expect(stable.Status).To(Equal(metav1.ConditionFalse))
		Expect(stable.Reason).To(Equal(v1alpha1.ReasonBaselineMismatch))
	})
})
