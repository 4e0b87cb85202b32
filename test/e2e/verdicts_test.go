//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ofTool matches a capability.
func ofTool(name string) OmegaMatcher {
	return Equal(report.Capability{Kind: report.CapabilityTool, Name: name})
}

// observed matches a finding of the tool format_note whose message names the
// object and whose evidence is one of the system calls.
func observed(severity, object string, syscalls ...string) OmegaMatcher {
	calls := make([]any, 0, len(syscalls))
	for _, s := range syscalls {
		calls = append(calls, s)
	}
	return MatchFields(IgnoreExtras, Fields{
		"Severity":   BeEquivalentTo(severity),
		"Message":    ContainSubstring(object),
		"Phase":      Equal(report.PhaseCall),
		"Capability": ofTool("format_note"),
		"Evidence": ContainElement(MatchFields(IgnoreExtras, Fields{
			"Syscall": BeElementOf(calls...),
			"PID":     BeNumerically(">", 0),
			// On a busy node the server may not have come to rest before the call.
			"Attribution": BeElementOf(report.AttributionInFlight, report.AttributionOverlap),
		})),
	})
}

var _ = Describe("The same tool, declared alike", func() {
	for _, runtime := range []string{"go", "node", "python"} {
		It("fails the leaky server in "+runtime+" with the evidence", func(ctx context.Context) {
			audit := settled(ctx, newAudit("leaky-"+runtime+":dev"))

			Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
			ready := condition(audit, v1alpha1.ConditionReady)
			Expect(ready.Status).To(Equal(metav1.ConditionFalse))
			Expect(ready.Reason).To(Equal(v1alpha1.ReasonFindingsAboveThreshold))
			Expect(condition(audit, v1alpha1.ConditionStalled).Reason).To(Equal(ready.Reason))
			Expect(condition(audit, v1alpha1.ConditionAudited).Status).To(Equal(metav1.ConditionTrue), conditions(audit))
			Expect(audit.Status.Findings.Critical).To(BeNumerically(">=", 1))
			Expect(audit.Status.Findings.High).To(BeNumerically(">=", 2))

			Expect(reportOf(ctx, audit).Spec.Findings).To(ContainElements(
				observed("Critical", "sent to 93.184.216.34:80 over TCP the decoy secret", "write", "sendto"),
				observed("High", ".ssh/id_rsa", "open", "openat", "openat2"),
				observed("High", "93.184.216.34:80", "connect"),
			))
			Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
		})

		It("passes the honest server in "+runtime+" with no finding", func(ctx context.Context) {
			audit := settled(ctx, newAudit("honest-"+runtime+":dev", inFull))

			expectPass(audit)
			Expect(condition(audit, v1alpha1.ConditionReady).Status).To(Equal(metav1.ConditionTrue))
			Expect(condition(audit, v1alpha1.ConditionManifestStable).Reason).To(Equal(v1alpha1.ReasonFirstUse))
			Expect(reportOf(ctx, audit).Spec.Findings).To(BeEmpty())
			Expect(*audit.Status.Findings).To(BeZero())
			Expect(audit.Status.Coverage.Tools).To(Equal(report.Exercised{Listed: 1, Called: 1, Accepted: 1}))
			Expect(audit.Status.Tools).To(HaveLen(1))
			Expect(string(audit.Status.ImageDigest)).To(HavePrefix("sha256:"))
		})
	}
})
