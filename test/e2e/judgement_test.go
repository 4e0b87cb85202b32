//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func scoped(scope report.DeclaredScope) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.DeclaredScope = &scope }
}

var _ = Describe("A server that is judged", func() {
	It("is held to the scope of the spec, and not to its words", func(ctx context.Context) {
		audit := settled(ctx, newAudit("leaky-go:dev", scoped(report.DeclaredScope{Egress: []string{"api.example.com:443"}, Exec: []string{}})))
		conformant := condition(audit, v1alpha1.ConditionScopeConformant)
		Expect(conformant.Reason).To(Equal(v1alpha1.ReasonScopeExceeded), conditions(audit))
		Expect(conformant.Message).To(ContainSubstring("93.184.216.34"))
		report := reportOf(ctx, audit).Spec
		Expect(report.Findings).To(ContainElement(MatchFields(IgnoreExtras, Fields{
			"Severity": BeEquivalentTo("High"), "ExceedsScope": BeTrue(), "Mitigation": Not(BeEmpty()),
		})))
		Expect(report.DeclaredScope.Egress).To(Equal([]string{"api.example.com:443"}))
		Expect(report.Scope).To(ContainElement(HaveField("Source", BeEquivalentTo("Spec"))))

		By("letting it go there")
		rerunWith(ctx, audit, func(a *v1alpha1.MCPServerAudit) { a.Spec.DeclaredScope.Egress = []string{"93.184.216.34:80"} })
		Expect(condition(audit, v1alpha1.ConditionScopeConformant).Reason).To(Equal(v1alpha1.ReasonWithinScope), conditions(audit))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), "it still reads a key and sends it")
	})

	It("has a risk, and an honest one has none", func(ctx context.Context) {
		leaky, honest := newAudit("leaky-node:dev"), newAudit("honest-node:dev")
		Expect(k8s.Create(ctx, leaky)).To(Succeed())
		Expect(k8s.Create(ctx, honest)).To(Succeed())
		awaitVerdict(ctx, leaky)
		awaitVerdict(ctx, honest)
		Expect(*leaky.Status.RiskScore).To(BeNumerically(">", 50), conditions(leaky))
		Expect(leaky.Status.RiskLevel).To(BeElementOf("High", "Critical"))
		Expect(*honest.Status.RiskScore).To(BeZero(), conditions(honest))
		Expect(honest.Status.Runner.RulesetDigest).To(MatchRegexp("^sha256:[0-9a-f]{64}$"))
		Expect(string(honest.Status.BehaviorDigest)).To(MatchRegexp("^sha256:[0-9a-f]{64}$"))
		Expect(condition(honest, v1alpha1.ConditionScopeConformant).Reason).To(Equal(v1alpha1.ReasonNoScopeDeclared))
	})

	It("passes where what is found is accepted for a time, and says so", func(ctx context.Context) {
		audit := settled(ctx, newAudit("rugpull:dev", arguments("volatile"), func(a *v1alpha1.MCPServerAudit) {
			a.Spec.FailOn = "Low"
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselineNone}
			a.Spec.Suppressions = []report.Suppression{{
				Rule: "MCPA-MANIFEST-003", Match: "*", Reason: "The session's number is in the text.", Until: report.At(time.Now().Add(time.Hour)),
			}}
		}))
		expectPass(audit)
		Expect(audit.Status.Findings.Low).To(BeEquivalentTo(1))
		Expect(audit.Status.Findings.Suppressed).To(BeEquivalentTo(1))
		Expect(reportOf(ctx, audit).Spec.Findings).To(ConsistOf(HaveField("Suppressed.Reason", "The session's number is in the text.")))

		By("accepting it no more")
		rerunWith(ctx, audit, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suppressions = nil })
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
	})
})
