//go:build envtest

package v1alpha1_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
