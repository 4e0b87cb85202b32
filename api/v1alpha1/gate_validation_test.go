//go:build envtest

package v1alpha1_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func images(globs ...string) *v1alpha1.MCPAuditPolicy {
	return &v1alpha1.MCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "policy-", Namespace: "default"},
		Spec:       v1alpha1.MCPAuditPolicySpec{Match: &v1alpha1.Match{Images: globs}},
	}
}

func selecting(operator metav1.LabelSelectorOperator, values ...string) *v1alpha1.MCPAuditPolicy {
	policy := images("registry.example/**")
	policy.Spec.Match.ObjectSelector = &metav1.LabelSelector{
		MatchLabels:      map[string]string{"app": "notes"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: operator, Values: values}},
	}
	return policy
}

func limiting(limit *v1alpha1.ExposureLimit) *v1alpha1.MCPAuditPolicy {
	policy := images("registry.example/**")
	policy.Spec.Exposure = limit
	return policy
}

var _ = Describe("what the gate admits of exposure", func() {
	shell := v1alpha1.DeniedExposure{Kind: report.ExposesCommandExecution, Reach: report.ReachArbitrary}

	It("is taken, with any reach by default", func(ctx SpecContext) {
		policy := limiting(&v1alpha1.ExposureLimit{MaxLevel: "High", Deny: []v1alpha1.DeniedExposure{shell, {Kind: report.ExposesSecrets}}})
		Expect(api.Create(ctx, policy)).To(Succeed())
		Expect(policy.Spec.Exposure.Deny[1].Reach).To(Equal(report.ReachFixed))
	})

	DescribeTable("is refused", func(ctx SpecContext, policy client.Object, why string) {
		Expect(api.Create(ctx, policy)).To(MatchError(ContainSubstring(why)))
	},
		Entry("nothing", limiting(&v1alpha1.ExposureLimit{}), "give maxLevel, deny or both"),
		Entry("a level that denies nothing", limiting(&v1alpha1.ExposureLimit{MaxLevel: "Critical"}), `supported values: "None", "Low", "Medium", "High"`),
		Entry("a kind that is none", limiting(&v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "Shell"}}}), "spec.exposure.deny[0].kind"),
		Entry("a reach that is none", limiting(&v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "Secrets", Reach: "Far"}}}), "spec.exposure.deny[0].reach"),
		Entry("a kind twice", limiting(&v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{shell, shell}}), "Duplicate value"),
		Entry("for nobody who denies", &v1alpha1.ClusterMCPAuditPolicy{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "policy-"}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{Exposure: &v1alpha1.ExposureLimit{MaxLevel: "Low"}},
		}, "give gate as well"),
	)
})

var _ = Describe("what the gate matches", func() {
	DescribeTable("is taken", func(ctx SpecContext, policy *v1alpha1.MCPAuditPolicy) {
		Expect(api.Create(ctx, policy)).To(Succeed())
	},
		Entry("a registry", images("registry.example/mcp/*", "docker.io/library/notes:*", "localhost/**", "127.0.0.1:5000/notes")),
		Entry("any registry", images("**", "**/notes", "*/notes", "*.example/notes:1")),
		Entry("In", selecting("In", "a")), Entry("NotIn", selecting("NotIn", "a", "b")),
		Entry("Exists", selecting("Exists")), Entry("DoesNotExist", selecting("DoesNotExist")),
	)

	DescribeTable("is refused", func(ctx SpecContext, policy *v1alpha1.MCPAuditPolicy, why string) {
		Expect(api.Create(ctx, policy)).To(MatchError(ContainSubstring(why)))
	},
		Entry("a name without its registry", images("notes:*"), "begin with the registry"),
		Entry("a path without its registry", images("mcp/**"), "begin with the registry"),
		Entry("a star that no registry is", images("*"), "begin with the registry"),
		Entry("an operator that is none", selecting("Like", "a"), "operators are"),
		Entry("In without values", selecting("In"), "operators are"),
		Entry("Exists with values", selecting("Exists", "a"), "operators are"),
	)
})
