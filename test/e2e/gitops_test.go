//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fromGit is kept in Git by a team: as short as it can be, so that defaults are filled in.
const fromGit = `
apiVersion: mcpaudit.dev/v1alpha1
kind: MCPServerAudit
metadata: {name: notes, namespace: NAMESPACE}
spec: {server: {image: "IMAGE"}}
---
apiVersion: mcpaudit.dev/v1alpha1
kind: MCPAuditPolicy
metadata: {name: notes, namespace: NAMESPACE}
spec: {}
---
apiVersion: mcpaudit.dev/v1alpha1
kind: ClusterMCPAuditPolicy
metadata: {name: NAMESPACE}
spec:
  match: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}}
  gate: {}
  trust: {auditNamespaces: Same}
---
apiVersion: mcpaudit.dev/v1alpha1
kind: MCPAuditException
metadata: {name: notes, namespace: NAMESPACE}
spec:
  policyRef: {kind: MCPAuditPolicy, name: notes}
  objectSelector: {}
  reason: The end-to-end tests have it in Git.
  ticket: TEST-3
  expiresAt: "UNTIL"
`

// documents are the objects of a text.
func documents(text string) []*unstructured.Unstructured {
	GinkgoHelper()
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		all = append(all, object)
	}
	return all
}

var _ = Describe("GitOps", func() {
	It("has every kind become current, and nothing differ when it is applied again", func(ctx context.Context) {
		gated(ctx)
		text := strings.NewReplacer("NAMESPACE", namespace, "IMAGE", registry+"/mcpaudit/honest-go:dev", "UNTIL", inAYear().UTC().Format(time.RFC3339)).Replace(fromGit)
		DeferCleanup(func(ctx context.Context) { mustKubectl(ctx, "", "delete", "clustermcpauditpolicy", namespace) })
		apply := func() {
			GinkgoHelper()
			mustKubectl(ctx, text, "apply", "--server-side", "--field-manager=gitops", "-f", "-")
		}
		apply()
		versions := map[string]string{}
		objects := documents(text)
		for _, object := range objects {
			await(ctx, object, func(g Gomega) {
				computed, err := status.Compute(object)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(computed.Status).To(Equal(status.CurrentStatus), "%s: %s", object.GetKind(), computed.Message)
				observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
				g.Expect(observed).To(Equal(object.GetGeneration()), object.GetKind())
			})
			versions[object.GetKind()] = object.GetResourceVersion()
		}

		mustKubectl(ctx, text, "diff", "--server-side", "--field-manager=gitops", "-f", "-")
		apply()
		for _, object := range objects {
			Expect(k8s.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			Expect(object.GetResourceVersion()).To(Equal(versions[object.GetKind()]), object.GetKind())
		}
	})

	It("has nothing differ of what the operator is installed with", func(ctx context.Context) {
		all := mustKubectl(ctx, "", "kustomize", "../../config/default")
		var static []string
		for _, object := range documents(all) {
			if slices.Contains([]string{"ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "CustomResourceDefinition", "ClusterRole", "Service"}, object.GetKind()) {
				raw, err := yaml.Marshal(object.Object)
				Expect(err).NotTo(HaveOccurred())
				static = append(static, string(raw))
			}
		}
		Expect(static).NotTo(BeEmpty())
		mustKubectl(ctx, strings.Join(static, "---\n"), "diff", "--server-side", "--force-conflicts", "-f", "-")
	})
})
