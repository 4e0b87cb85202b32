//go:build envtest

package offline_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// serverKind is a CRD of MCPServers of a group, which takes any spec.
const serverKind = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: mcpservers.%[1]s,
  annotations: {api-approved.kubernetes.io: unapproved}}, spec: {group: %[1]s, scope: Namespaced,
  names: {kind: MCPServer, plural: mcpservers}, versions: [{name: v1alpha1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

func mcpServer(group, namespace, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf("{apiVersion: %s/v1alpha1, kind: MCPServer, metadata: {name: server, namespace: %s}, spec: %s}", group, namespace, spec)
	Expect(yaml.Unmarshal([]byte(text), &object.Object)).To(Succeed())
	return object
}

var _ = Describe("MCPServer objects", func() {
	It("are judged by what they run, and never by what is not there", func(ctx SpecContext) {
		namespace := gated(ctx)
		for _, group := range []string{"toolhive.stacklok.dev", "kagent.dev", "mcp.x-k8s.io"} {
			testenv.Create(ctx, fmt.Sprintf(serverKind, group))
		}
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{
			leakyKey: line("", "", "deny"), honestKey: line("/run ", "a ", "deny") + "\n" + line("", "--more a ", "deny"), "docker.io/library/node:24-alpine3.21": line("npx ", "x ", "deny"), "containers": "other,canary",
		})
		for _, c := range []struct{ group, spec string }{
			{"toolhive.stacklok.dev", "{image: LEAKY}"},
			{"toolhive.stacklok.dev", "{image: HONEST, args: [a], podTemplateSpec: {spec: {containers: [{name: other}, {name: mcp, command: [/run]}]}}}"},
			{"toolhive.stacklok.dev", "{image: HONEST, args: [a], podTemplateSpec: {spec: {containers: [{name: mcp, args: [--more]}]}}}"},
			{"kagent.dev", "{deployment: {image: LEAKY}}"},
			{"kagent.dev", "{deployment: {image: HONEST, cmd: /run, args: [a]}}"},
			{"kagent.dev", "{deployment: {cmd: npx, args: [x]}}"},
			{"mcp.x-k8s.io", "{source: {containerImage: {ref: LEAKY}}}"},
		} {
			spec := strings.NewReplacer("LEAKY", leaky, "HONEST", honest).Replace(c.spec)
			testenv.Eventually(ctx, func(g Gomega) { // the kind may be new
				g.Expect(try(ctx, mcpServer(c.group, namespace, spec))).To(forbidden("MCPServer server: server mcp runs "), "%s %s", c.group, c.spec)
			})
			Expect(try(ctx, mcpServer(c.group, namespace, strings.NewReplacer("1111", "4444", "[a]", "[b]", "[x]", "[z]").Replace(spec)))).To(Succeed(), "%s %s", c.group, c.spec)
		}
		for _, group := range []string{"toolhive.stacklok.dev", "kagent.dev", "mcp.x-k8s.io"} {
			Expect(try(ctx, mcpServer(group, namespace, "{}"))).To(Succeed(), group)
			object := mcpServer(group, namespace, "{}")
			delete(object.Object, "spec")
			Expect(try(ctx, object)).To(Succeed(), group)
		}
		By("what is of another type than it is to be is not admitted unread")
		Expect(try(ctx, mcpServer("toolhive.stacklok.dev", namespace, "{image: [1]}"))).To(forbidden(""))
		Expect(try(ctx, mcpServer("kagent.dev", namespace, "{deployment: {image: {}}}"))).To(forbidden(""))
	})
})
