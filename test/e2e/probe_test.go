//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// speaks has the server started with an argument that makes it speak a transport.
func speaks(transport report.Transport, port int32, argument string) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Server.Transport, a.Spec.Server.Port, a.Spec.Server.Args = transport, port, []string{argument}
	}
}

func probed(probe v1alpha1.Probe) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.Probe = probe }
}

// whole matches what was exercised to the last of it.
var whole = WithTransform(func(e report.Exercised) bool {
	return e.Listed > 0 && e.Called == e.Listed && e.Accepted > 0
}, BeTrue())

// said matches what a tool answered to arguments that hold a value, which came from
// a source.
func said(tool, value, source, text string) OmegaMatcher {
	return MatchFields(IgnoreExtras, Fields{
		"Kind":       Equal(report.OutputResult),
		"Capability": ofTool(tool),
		"Arguments":  ContainSubstring(value),
		"Origins":    ContainElement(And(ContainSubstring(value), ContainSubstring(source))),
		"Text":       ContainSubstring(text),
	})
}

// instructs is the finding that an output of a tool tells the model what to do.
func instructs(tool string) OmegaMatcher {
	return MatchFields(IgnoreExtras, Fields{
		"Rule": Equal("MCPA-OUTPUT-001"), "Severity": BeEquivalentTo("High"),
		"Capability": ofTool(tool),
	})
}

var _ = Describe("The probe in a Pod", func() {
	for _, how := range []struct {
		transport report.Transport
		port      int32
		argument  string
		depth     report.Depth
	}{
		{report.TransportStdio, 0, "stdio", report.DepthStandard},
		{report.TransportStreamableHTTP, 3001, "streamableHttp", report.DepthQuick},
		{report.TransportSSE, 3001, "sse", report.DepthQuick},
	} {
		It("exercises all that server-everything advertises, over "+string(how.transport), func(ctx context.Context) {
			audit := settled(ctx, newAudit("everything:dev", speaks(how.transport, how.port, how.argument), probed(v1alpha1.Probe{Depth: how.depth})))

			expectPass(audit)
			coverage := *audit.Status.Coverage
			Expect(coverage).To(MatchFields(IgnoreExtras, Fields{
				"Tools": whole, "Resources": whole, "ResourceTemplates": whole, "Prompts": whole,
				"Completions": whole, "Subscriptions": whole,
			}))
			Expect(coverage.Calls.Done).To(BeNumerically(">=", 100))
			Expect(coverage.Branches.Done).To(BeNumerically(">=", coverage.Branches.Total*8/10))

			report := reportOf(ctx, audit).Spec
			Expect(report.Findings).To(BeEmpty())
			Expect(report.Server.Transport).To(BeEquivalentTo(how.transport))
			Expect(report.Exercise).To(HaveLen(coverage.Tools.Listed + coverage.Resources.Listed + coverage.ResourceTemplates.Listed + coverage.Prompts.Listed))
			Expect(report.Exercise).To(HaveEach(HaveField("Calls.Total", BeNumerically(">", 0))))
			Expect(report.Outputs).NotTo(BeEmpty())
		})
	}

	for transport, argument := range map[report.Transport]string{report.TransportStreamableHTTP: "http", report.TransportSSE: "sse"} {
		It("passes the honest server over "+string(transport)+", under its own tracer, too", func(ctx context.Context) {
			audit := settled(ctx, newAudit("honest-go:dev", speaks(transport, 8080, argument), sandboxed(plan.TracerPtrace, report.NetworkSinkhole)))
			expectPass(audit)
			Expect(reportOf(ctx, audit).Spec.Findings).To(BeEmpty())
			Expect(audit.Status.Coverage.Tools).To(Equal(report.Exercised{Listed: 1, Called: 1, Accepted: 1}))
		})
	}

	It("reaches what only the server's own answers lead to, and says how", func(ctx context.Context) {
		audit := settled(ctx, newAudit("tickets:dev"))
		Expect(reportOf(ctx, audit).Spec.Outputs).To(ContainElements(
			said("get_ticket", "TICK-3", "list_tickets", "<IMPORTANT>"),
			said("service_status", "ledger-sync", "error of tool service_status", "Ignore all previous instructions"),
		), conditions(audit))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
		Expect(reportOf(ctx, audit).Spec.Findings).To(ConsistOf(instructs("get_ticket"), instructs("service_status")))
	})

	It("says which port a server listens on when it is another", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-go:dev", speaks(report.TransportStreamableHTTP, 8081, "http"), timeout(time.Minute)))
		expectInconclusive(audit, report.ReasonNotListening, "8080")
	})

	It("is Inconclusive when it may call nothing", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-go:dev", probed(v1alpha1.Probe{Calls: report.CallsNever})))
		expectInconclusive(audit, report.ReasonNotExercised, "Left out because that was asked for")
		Expect(audit.Status.Coverage.Tools).To(Equal(report.Exercised{Listed: 1}))
		Expect(reportOf(ctx, audit).Spec.Probe.Calls).To(Equal(report.CallsNever))

		By("letting it")
		rerunWith(ctx, audit, func(a *v1alpha1.MCPServerAudit) { a.Spec.Probe.Calls = report.CallsAll })
		expectPass(audit)
		Expect(audit.Status.Trigger.Reason).To(Equal(v1alpha1.TriggerSpecChanged))
	})

	It("leaves out a tool that is to be skipped, and says so", func(ctx context.Context) {
		audit := settled(ctx, newAudit("tickets:dev", probed(v1alpha1.Probe{SkipTools: []string{"get_ticket", "service_status"}})))
		expectInconclusive(audit, report.ReasonNotExercised, "get_ticket")
		Expect(reportOf(ctx, audit).Spec.Exercise).To(ContainElement(MatchFields(IgnoreExtras, Fields{
			"Name": Equal("get_ticket"), "Skipped": Equal("SkipTools"), "Calls": BeZero(),
		})))
	})

	It("hands in what it was given", func(ctx context.Context) {
		audit := settled(ctx, newAudit("tickets:dev", probed(v1alpha1.Probe{
			Rounds: 1,
			Inputs: []v1alpha1.ToolInput{{Tool: "service_status", Arguments: runtime.RawExtension{Raw: []byte(`{"service":"search"}`)}}},
		})))
		report := reportOf(ctx, audit).Spec
		Expect(report.Probe.Rounds).To(BeEquivalentTo(1))
		Expect(report.Outputs).To(ContainElement(MatchFields(IgnoreExtras, Fields{
			"Capability": ofTool("service_status"), "Text": ContainSubstring("search: up"),
		})))
	})
})

var _ = Describe("A server that turns on its user", func() {
	for mode, moment := range map[string]string{"session": "Session", "restart": "Restart", "identity": "Identity"} {
		It("is found in the Pod when the occasion is: "+mode, func(ctx context.Context) {
			audit := settled(ctx, newAudit("rugpull:dev", arguments(mode)))
			Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
			Expect(reportOf(ctx, audit).Spec.Drifts).To(ContainElement(MatchFields(IgnoreExtras, Fields{
				"Moment": BeEquivalentTo(moment), "Drift": HaveField("Changed", ContainElement("tool format_note")),
			})))
		})
	}

	It("is found in the Pod when the occasion is the date", func(ctx context.Context) {
		audit := settled(ctx, newAudit("later-node:dev", inFull, arguments(time.Now().AddDate(0, 0, 7).Format(time.DateOnly))))
		Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(audit))
		Expect(reportOf(ctx, audit).Spec.Drifts).To(ContainElement(HaveField("Moment", report.MomentClock)))
	})

	It("is not one that offers what the client can do", func(ctx context.Context) {
		audit := settled(ctx, newAudit("rugpull:dev", arguments("capabilities")))
		expectPass(audit)
		report := reportOf(ctx, audit).Spec
		Expect(report.Findings).To(BeEmpty())
		Expect(report.Drifts).To(BeEmpty())
	})
})

// rerunWith changes the spec and waits for the verdict on it.
func rerunWith(ctx context.Context, audit *v1alpha1.MCPServerAudit, change func(*v1alpha1.MCPServerAudit)) {
	GinkgoHelper()
	before := audit.DeepCopy()
	change(audit)
	Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
	Expect(audit.Generation).NotTo(Equal(before.Generation))
	awaitVerdict(ctx, audit)
	Expect(condition(audit, v1alpha1.ConditionAuditing).Status).To(Equal(metav1.ConditionFalse))
}
