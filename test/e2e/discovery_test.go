//go:build e2e

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// mcpServers is a CRD as small as discovery needs it: the operators that are found
// by it are not installed.
const mcpServers = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: mcpservers.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: MCPServer, listKind: MCPServerList, plural: mcpservers, singular: mcpserver}
  versions:
  - {name: VERSION, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
`

// idle is a workload that is found and not run.
const idle = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: weather, namespace: NAMESPACE, labels: {mcpaudit.dev/server: server}}
spec:
  replicas: 0
  selector: {matchLabels: {app: weather}}
  template:
    metadata: {labels: {app: weather}}
    spec: {containers: [{name: proxy, image: none.invalid/none}, {name: server, image: IMAGE}]}
`

// discover makes a policy for the namespace of the running spec.
func discover(ctx context.Context) *v1alpha1.ClusterMCPAuditPolicy {
	GinkgoHelper()
	policy := &v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: v1alpha1.ClusterMCPAuditPolicySpec{Discovery: &v1alpha1.Discovery{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		}},
	}
	Expect(k8s.Create(ctx, policy)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, policy))).To(Succeed()) })
	return policy
}

// discovered waits for the audit of a server, and for its verdict.
func discovered(ctx context.Context, name string) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Eventually(func() error { return k8s.Get(ctx, client.ObjectKeyFromObject(audit), audit) }).
		WithContext(ctx).Should(Succeed())
	awaitVerdict(ctx, audit)
	return audit
}

// awaitGone waits until an audit is not there any more.
func awaitGone(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	Eventually(func() bool {
		return apierrors.IsNotFound(k8s.Get(ctx, client.ObjectKeyFromObject(audit), &v1alpha1.MCPServerAudit{}))
	}).WithContext(ctx).Should(BeTrue())
}

func applied(ctx context.Context, text string) {
	GinkgoHelper()
	mustKubectl(ctx, text, "apply", "-f", "-")
}

// serveMCPServers installs the CRD of another operator for the spec.
func serveMCPServers(ctx context.Context, group, version string) {
	GinkgoHelper()
	definition := strings.NewReplacer("GROUP", group, "VERSION", version).Replace(mcpServers)
	applied(ctx, definition)
	DeferCleanup(func(ctx context.Context) { mustKubectl(ctx, definition, "delete", "--ignore-not-found", "-f", "-") })
	mustKubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=1m", "crd/mcpservers."+group)
}

var _ = Describe("Discovery", func() {
	It("audits a labelled workload, and finds its rug pull", func(ctx context.Context) {
		tag := "drift:" + namespace
		moveTag(ctx, "drift:v1", tag)
		policy := discover(ctx)
		applied(ctx, strings.NewReplacer("NAMESPACE", namespace, "IMAGE", registry+"/mcpaudit/"+tag).Replace(idle))
		audit := discovered(ctx, "deployment-weather")
		expectPass(audit)
		Expect(audit.Spec.Schedule).NotTo(BeNil())
		Expect(audit.Status.NextAuditTime).NotTo(BeNil())
		await(ctx, policy, func(g Gomega) {
			g.Expect(policy.Status.Discovery).NotTo(BeNil())
			g.Expect(policy.Status.Discovery.Audited).To(BeEquivalentTo(1))
		})

		moveTag(ctx, "drift:v2", tag)
		rerun(ctx, audit)
		Expect(condition(audit, v1alpha1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonManifestDrifted), conditions(audit))

		By("deleting the policy")
		Expect(k8s.Delete(ctx, policy)).To(Succeed())
		awaitGone(ctx, audit)
	})

	DescribeTable("audits the MCPServers of other operators, whose CRD comes later", func(ctx context.Context, group, version, name, spec string) {
		discover(ctx)
		serveMCPServers(ctx, group, version)
		server := "apiVersion: " + group + "/" + version + "\nkind: MCPServer\nmetadata: {name: weather, namespace: " + namespace + "}\nspec: " +
			strings.ReplaceAll(spec, "REGISTRY", registry+"/mcpaudit") + "\n"
		applied(ctx, server)
		audit := discovered(ctx, name)
		expectPass(audit)

		By("deleting the server")
		mustKubectl(ctx, server, "delete", "-f", "-")
		awaitGone(ctx, audit)
	},
		Entry("ToolHive", "toolhive.stacklok.dev", "v1beta1", "toolhive-weather", `{image: "REGISTRY/honest-go:dev", transport: stdio, proxyMode: sse}`),
		Entry("kmcp", "kagent.dev", "v1alpha1", "kmcp-weather", `{transportType: stdio, deployment: {image: "REGISTRY/honest-go:dev", port: 3000, cmd: /server}}`),
		Entry("mcp.x-k8s.io", "mcp.x-k8s.io", "v1beta1", "mcpserver-weather",
			`{source: {type: ContainerImage, containerImage: {ref: "REGISTRY/honest-go:dev"}},
  config: {port: 8080, path: /mcp, arguments: [http], env: [{name: PORT, value: "8080"}]}}`),
	)
})
