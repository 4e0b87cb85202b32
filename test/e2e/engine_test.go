//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func sandboxed(tracer plan.Tracer, network report.Network) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Sandbox.Tracer, a.Spec.Sandbox.Network = tracer, network
	}
}

func arguments(args ...string) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Args = args }
}

var _ = Describe("The engine in a Pod", func() {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		It("reads what is carried off over TLS, by "+string(tracer), func(ctx context.Context) {
			audit := settled(ctx, newAudit("leaky-go:dev", arguments("https", "gzip"), sandboxed(tracer, report.NetworkSinkhole)))

			Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
			report := reportOf(ctx, audit).Spec
			Expect(report.Network).To(BeEquivalentTo("Sinkhole"))
			Expect(report.Tracer.Name).To(Equal(map[plan.Tracer]string{
				plan.TracerStrace: "strace", plan.TracerPtrace: "ptrace"}[tracer]))
			Expect(report.Findings).To(ContainElement(MatchFields(IgnoreExtras, Fields{
				"Rule":       Equal("MCPA-SECRET-002"),
				"Severity":   BeEquivalentTo("Critical"),
				"Message":    And(ContainSubstring("over HTTPS"), ContainSubstring(".ssh/id_rsa"), ContainSubstring("gzip")),
				"Capability": ofTool("format_note"),
			})))
			Expect(report.Captures).To(ContainElement(MatchFields(IgnoreExtras, Fields{
				"Protocol": Equal("https"), "Opaque": BeFalse(), "Request": ContainSubstring("POST "),
				"Capability": ofTool("format_note"),
			})))
		})
	}

	It("passes the honest server under its own tracer", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-node:dev", sandboxed(plan.TracerPtrace, report.NetworkSinkhole)))

		expectPass(audit)
		Expect(reportOf(ctx, audit).Spec.Findings).To(BeEmpty())
	})

	It("refuses every connection where the network is Deny", func(ctx context.Context) {
		audit := settled(ctx, newAudit("leaky-node:dev", sandboxed(plan.TracerAuto, report.NetworkDeny)))

		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
		report := reportOf(ctx, audit).Spec
		Expect(report.Network).To(BeEquivalentTo("Deny"))
		Expect(report.Captures).To(BeEmpty())
		Expect(report.Findings).To(ContainElements(
			observed("High", ".ssh/id_rsa", "open", "openat", "openat2"),
			observed("High", "93.184.216.34:80", "connect"),
		))
		Expect(report.Findings).NotTo(ContainElement(HaveField("Rule", "MCPA-SECRET-002")))
	})
})
