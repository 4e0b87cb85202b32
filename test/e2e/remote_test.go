//go:build e2e

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// honest is a server that runs in the cluster, as its users have it.
const honest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: notes, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: notes}}
  template:
    metadata: {labels: {app: notes}}
    spec:
      containers:
      - name: notes
        image: REGISTRY/mcpaudit/honest-go:dev
        args: [http]
        env: [{name: PORT, value: "8080"}]
        ports: [{name: mcp, containerPort: 8080}]
        readinessProbe: {tcpSocket: {port: mcp}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: notes, namespace: NAMESPACE}
spec:
  selector: {app: notes}
  ports: [{port: 80, targetPort: mcp}]
`

// elsewhere is an audit of a server that is not run.
func elsewhere(url string) *v1alpha1.MCPServerAudit {
	return newAudit("", func(a *v1alpha1.MCPServerAudit) { a.Spec.Server = v1alpha1.Server{URL: url} })
}

var _ = Describe("A server that runs elsewhere", func() {
	It("is heard and not traced, and so it does not pass", func(ctx context.Context) {
		manifest := strings.NewReplacer("NAMESPACE", namespace, "REGISTRY", registry).Replace(honest)
		mustKubectl(ctx, manifest, "apply", "-f", "-")
		mustKubectl(ctx, "", "-n", namespace, "rollout", "status", "deployment/notes", "--timeout=120s")

		audit := elsewhere("http://notes." + namespace + ".svc/mcp")
		audit.Spec.Probe.Calls = report.CallsAll
		Expect(k8s.Create(ctx, audit)).To(Succeed())

		By("making a Pod without any right but to the network")
		var pods []corev1.Pod
		Eventually(func() []corev1.Pod {
			pods = podsOf(ctx, audit)
			return pods
		}).WithContext(ctx).Should(HaveLen(1))
		Expect(pods[0].Labels).To(HaveKeyWithValue("mcpaudit.dev/network", "Remote"))
		Expect(pods[0].Spec.InitContainers).To(BeEmpty())
		Expect(pods[0].Spec.ShareProcessNamespace).To(BeNil())
		Expect(pods[0].Spec.Containers).To(HaveLen(1))
		Expect(pods[0].Spec.Containers[0].SecurityContext.Capabilities).To(HaveValue(Equal(corev1.Capabilities{Drop: []corev1.Capability{"ALL"}})))

		awaitVerdict(ctx, audit)
		expectInconclusive(audit, report.ReasonNotTraced, "the server runs elsewhere")
		Expect(condition(audit, v1alpha1.ConditionReady).Message).To(ContainSubstring("give spec.server.image"))
		Expect(condition(audit, v1alpha1.ConditionManifestStable).Reason).To(Equal(v1alpha1.ReasonFirstUse))
		Expect(audit.Status.ImageDigest).To(BeEmpty())
		Expect(audit.Status.Coverage.Tools).To(Equal(report.Exercised{Listed: 1, Called: 1, Accepted: 1}))
		report := reportOf(ctx, audit).Spec
		Expect(report.Findings).To(BeEmpty())
		Expect(report.Server.URL).To(Equal(audit.Spec.Server.URL))
		Expect(report.Server.Transport).To(BeEquivalentTo("StreamableHTTP"))
		Expect(report.Outputs).NotTo(BeEmpty())
		Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())

		By("auditing it again: no drift")
		rerun(ctx, audit)
		Expect(condition(audit, v1alpha1.ConditionManifestStable).Reason).To(Equal(v1alpha1.ReasonMatchesBaseline))
	})

	It("is not looked for where clouds keep credentials, nor at the API server", func(ctx context.Context) {
		for _, url := range []string{"http://169.254.169.254/latest/meta-data/", "https://kubernetes.default.svc/mcp"} {
			audit := settled(ctx, elsewhere(url))
			Expect(audit.Status.Verdict).To(Equal(v1alpha1.VerdictInconclusive), conditions(audit))
			audited := condition(audit, v1alpha1.ConditionAudited)
			Expect(audited.Status).To(Equal(metav1.ConditionFalse))
			Expect(audited.Message).To(ContainSubstring("is not connected to"))
		}
	})
})

var _ = Describe("A spec that makes no sense", func() {
	DescribeTable("is refused with the fix", func(ctx context.Context, change func(*v1alpha1.Server), fix string) {
		audit := newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) { change(&a.Spec.Server) })
		Expect(k8s.Create(ctx, audit)).To(MatchError(ContainSubstring(fix)))
	},
		Entry("an image and a URL", func(s *v1alpha1.Server) { s.URL = "https://mcp.example.com/mcp" }, "not both"),
		Entry("HTTP without a port", func(s *v1alpha1.Server) { s.Transport = report.TransportStreamableHTTP }, "set it to the port that the server listens on"),
		Entry("a port for stdio", func(s *v1alpha1.Server) { s.Transport, s.Port = report.TransportStdio, 8080 }, "set transport to Auto, StreamableHTTP or SSE"),
		Entry("a password in the URL", func(s *v1alpha1.Server) { *s = v1alpha1.Server{URL: "https://a:b@mcp.example.com/mcp"} }, "must not have a user name or password"),
		Entry("stdio at a URL", func(s *v1alpha1.Server) {
			*s = v1alpha1.Server{URL: "https://mcp.example.com/mcp", Transport: report.TransportStdio}
		}, "transport Stdio needs an image to run"),
	)
})
