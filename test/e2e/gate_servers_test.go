//go:build e2e

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Serial: the specs of discovery install the same CRDs, and remove them.
var _ = Describe("The gate of MCPServers", Serial, func() {
	DescribeTable("judges the server of the object, and what its Pods run besides", func(ctx context.Context, group, version, spec, besides string) {
		serveMCPServers(ctx, group, version)
		gate(ctx)
		r := reviewed(ctx)
		try := func(spec, image string) (string, error) {
			server := "apiVersion: " + group + "/" + version + "\nkind: MCPServer\nmetadata: {name: weather, namespace: " + namespace + "}\nspec: " +
				strings.NewReplacer("HONEST", byDigest(r.honest), "IMAGE", image).Replace(spec) + "\n"
			return kubectl(ctx, server, "create", "--dry-run=server", "-f", "-")
		}
		out, err := try(spec, byDigest(r.leaky))
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring(byWebhook), ContainSubstring("MCPServer weather"), ContainSubstring("failed its audit")))
		out, err = try(spec, byDigest(r.honest))
		Expect(err).NotTo(HaveOccurred(), out)
		if besides != "" {
			out, err = try(besides, byDigest(r.leaky))
			Expect(err).To(HaveOccurred(), out)
			Expect(out).To(ContainSubstring("failed its audit"))
		}
	},
		Entry("ToolHive", "toolhive.stacklok.dev", "v1beta1", `{image: "IMAGE", transport: stdio, proxyMode: sse}`,
			`{image: "HONEST", transport: stdio, podTemplateSpec: {spec: {initContainers: [{name: more, image: "IMAGE"}]}}}`),
		Entry("kmcp", "kagent.dev", "v1alpha1", `{transportType: stdio, deployment: {image: "IMAGE", port: 3000, cmd: /server}}`, ""),
		Entry("mcp.x-k8s.io", "mcp.x-k8s.io", "v1beta1", `{source: {type: ContainerImage, containerImage: {ref: "IMAGE"}}, config: {port: 3001}}`, ""),
	)
})
