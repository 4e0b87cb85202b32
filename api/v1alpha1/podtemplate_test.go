//go:build envtest

package v1alpha1_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The rest of what a template may not choose depends on the operator's
// configuration: see controllers/podspec.
var _ = Describe("A Pod template", func() {
	with := func(labels, annotations map[string]string) *v1alpha1.MCPServerAudit {
		audit := newAudit()
		audit.Spec.Sandbox.PodTemplate = &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: labels, Annotations: annotations}}
		return audit
	}

	It("may name a queue", func(ctx SpecContext) {
		Expect(api.Create(ctx, with(map[string]string{"kueue.x-k8s.io/queue-name": "audits", "team": "a"}, map[string]string{"why": "audit"}))).To(Succeed())
	})

	DescribeTable("may not set", func(ctx SpecContext, key string, ofLabels, ofAnnotations bool) {
		one := map[string]string{key: "x"}
		if ofLabels {
			err := api.Create(ctx, with(one, nil))
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(And(ContainSubstring("spec.sandbox.podTemplate.metadata.labels"), ContainSubstring("the operator's own: remove them"))))
		}
		if ofAnnotations {
			err := api.Create(ctx, with(nil, one))
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(And(ContainSubstring("spec.sandbox.podTemplate.metadata.annotations"), ContainSubstring("the operator's own: remove them"))))
		}
	},
		Entry("whose Pod it is", "mcpaudit.dev/audit-uid", true, true),
		Entry("its record", "mcpaudit.dev/run-record", true, true),
		Entry("what is below the group", "x.mcpaudit.dev/a", true, true),
		Entry("who manages it", "app.kubernetes.io/managed-by", true, false),
		Entry("Istio", "sidecar.istio.io/inject", true, true),
		Entry("Istio's other mode", "istio.io/dataplane-mode", true, false),
		Entry("Kuma", "kuma.io/sidecar-injection", true, false),
		Entry("Linkerd", "linkerd.io/inject", false, true),
		Entry("Consul", "consul.hashicorp.com/connect-inject", false, true),
		Entry("the autoscaler", "cluster-autoscaler.kubernetes.io/safe-to-evict", false, true),
	)
})
