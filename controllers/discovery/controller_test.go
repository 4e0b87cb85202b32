//go:build envtest

package discovery_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// change patches an object as a person would.
func change[T client.Object](ctx context.Context, object T, edit func(T)) {
	GinkgoHelper()
	before, ok := object.DeepCopyObject().(T)
	Expect(ok).To(BeTrue())
	edit(object)
	Expect(api.Patch(ctx, object, client.MergeFrom(before), client.FieldOwner("a-person"))).To(Succeed())
}

var _ = Describe("a policy", Ordered, func() {
	var stop func()
	BeforeAll(func() { stop = startManager(context.Background()) })
	AfterAll(func() { stop() })

	It("has an audit beside every labelled workload", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
			testenv.Create(ctx, workload(kind, namespace, "weather", "r/"+kind))
		}
		sources := testenv.Create(ctx, workload("Deployment", namespace, "plain", "r/plain"))
		change(ctx, sources[0], func(o *unstructured.Unstructured) { o.SetLabels(nil) })
		testenv.Create(ctx, workload("Deployment", testenv.SystemNamespace, "own", "r/own"))
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) {
			d.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{namespace, testenv.SystemNamespace}}}}
			d.Template.FailOn = "Medium"
		})
		settled(ctx, policy, 3, 3, 0)
		Expect(images(ctx, namespace)).To(Equal(map[string]string{
			"deployment-weather": "r/Deployment", "statefulset-weather": "r/StatefulSet", "daemonset-weather": "r/DaemonSet"}))
		Expect(images(ctx, testenv.SystemNamespace)).To(BeEmpty())
		audit := auditNamed(ctx, namespace, "deployment-weather")
		Expect(audit.Labels).To(Equal(map[string]string{discovery.LabelDiscoveredBy: policy.Name, discovery.LabelSourceKind: "Deployment.apps"}))
		Expect(audit.OwnerReferences).To(ConsistOf(MatchFields(IgnoreExtras, Fields{
			"APIVersion": Equal("apps/v1"), "Kind": Equal("Deployment"), "Name": Equal("weather"), "Controller": Equal(new(true)), "BlockOwnerDeletion": BeNil()})))
		Expect(audit.Spec.FailOn).To(BeEquivalentTo("Medium"))
		Expect(audit.Spec.Schedule.Interval.Duration).To(Equal(24*time.Hour), "the default of the template")
		Expect(audit.Spec.Baseline.Mode).To(Equal(v1alpha1.BaselineTrustOnFirstUse), "the default of the audit")
		Expect(policy.Status.Discovery.Sources).To(ContainElements(
			v1alpha1.DiscoverySourceStatus{Name: "Workload", State: "Watched", Discovered: 3},
			v1alpha1.DiscoverySourceStatus{Name: "Kmcp", State: "NotServed", Message: "The CRD mcpservers.kagent.dev is not installed."},
		))

		By("following the sources")
		workload := &unstructured.Unstructured{}
		workload.SetAPIVersion("apps/v1")
		workload.SetKind("Deployment")
		Expect(api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "weather"}, workload)).To(Succeed())
		change(ctx, workload, func(o *unstructured.Unstructured) {
			Expect(unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "server", "image": "r/other",
				"ports": []any{map[string]any{"containerPort": int64(8080)}}}}, "spec", "template", "spec", "containers")).To(Succeed())
		})
		testenv.Eventually(ctx, func(g Gomega) {
			server := auditNamed(ctx, namespace, "deployment-weather").Spec.Server
			g.Expect(server.Image).To(Equal("r/other"))
			g.Expect(server.Transport).To(Equal(report.TransportStreamableHTTP))
			g.Expect(server.Port).To(BeEquivalentTo(8080))
		})
		change(ctx, workload, func(o *unstructured.Unstructured) { o.SetLabels(nil) })
		settled(ctx, policy, 2, 2, 0)
		Expect(images(ctx, namespace)).NotTo(HaveKey("deployment-weather"))

		By("following the policy")
		Expect(api.Delete(ctx, policy)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(images(ctx, namespace)).To(BeEmpty()) })
	})

	DescribeTable("finds the MCPServers of others, also when their CRD is installed later, and survives its end",
		func(ctx SpecContext, source v1alpha1.DiscoverySource, group string, versions []string, name, spec string) {
			namespace := testenv.Namespace(ctx, nil)
			policy := policyFor(ctx, namespace)
			settled(ctx, policy, 0, 0, 0)
			object := fmt.Sprintf("apiVersion: %s/%s\nkind: MCPServer\nmetadata: {name: weather, namespace: %s}\nspec: %s\n", group, versions[0], namespace, spec)
			hostile := fmt.Sprintf("apiVersion: %s/%s\nkind: MCPServer\nmetadata: {name: hostile, namespace: %s}\nspec: [{image: {a: 7}}]\n", group, versions[0], namespace)
			for range 2 { // it is installed, removed, and installed again
				crd := install(ctx, definition(group, versions...))
				testenv.Create(ctx, object+"---\n"+hostile)
				settled(ctx, policy, 2, 1, 1)
				Expect(images(ctx, namespace)).To(Equal(map[string]string{name: "r/weather"}))
				Expect(policy.Status.Discovery.SkippedServers).To(ConsistOf(MatchFields(IgnoreExtras, Fields{
					"Kind": Equal("MCPServer." + group), "Namespace": Equal(namespace), "Name": Equal("hostile"),
					"Reason": Equal(v1alpha1.SkipNotAuditable), "Message": HavePrefix("It cannot be read"),
				})))
				Expect(policy.Status.Discovery.Sources).To(ContainElement(v1alpha1.DiscoverySourceStatus{Name: source, State: "Watched", Discovered: 2}))
				testenv.Remove(ctx, crd)
				settled(ctx, policy, 0, 0, 0)
				Expect(images(ctx, namespace)).To(BeEmpty())
			}
		},
		Entry("ToolHive", v1alpha1.SourceToolHive, "toolhive.stacklok.dev", []string{"v1beta1", "v1alpha1"}, "toolhive-weather", "{image: r/weather, transport: stdio}"),
		Entry("ToolHive of old", v1alpha1.SourceToolHive, "toolhive.stacklok.dev", []string{"v1alpha1"}, "toolhive-weather", "{image: r/weather, transport: sse}"),
		Entry("kmcp", v1alpha1.SourceKmcp, "kagent.dev", []string{"v1alpha1"}, "kmcp-weather", "{transportType: stdio, deployment: {image: r/weather, cmd: /server}}"),
		Entry("mcp.x-k8s.io", v1alpha1.SourceMCPLifecycle, "mcp.x-k8s.io", []string{"v1alpha1", "v1beta1"}, "mcpserver-weather",
			"{source: {type: ContainerImage, containerImage: {ref: r/weather}}, config: {port: 8080}}"),
	)

	It("says that it does not read a version", func(ctx SpecContext) {
		policy := policyFor(ctx, testenv.Namespace(ctx, nil))
		crd := install(ctx, definition("kagent.dev", "v9"))
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
			g.Expect(policy.Status.Discovery).NotTo(BeNil())
			g.Expect(policy.Status.Discovery.Sources).To(ContainElement(v1alpha1.DiscoverySourceStatus{
				Name: "Kmcp", State: "NotServed", Message: "mcpservers.kagent.dev is served as v9; discovery reads v1alpha1."}))
		})
		testenv.Remove(ctx, crd)
	})

	It("keeps the audits, and their baselines, when the CRD moves to a version that it does not read", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		policy := policyFor(ctx, namespace)
		crd := install(ctx, definition("kagent.dev", "v1alpha1", "v9"))
		testenv.Create(ctx, fmt.Sprintf("apiVersion: kagent.dev/v1alpha1\nkind: MCPServer\nmetadata: {name: weather, namespace: %s}\n"+
			"spec: {transportType: stdio, deployment: {image: r/weather, cmd: /server}}\n", namespace))
		settled(ctx, policy, 1, 1, 0)
		before := auditNamed(ctx, namespace, "kmcp-weather").UID
		serve := func(yes bool) {
			patch := fmt.Sprintf(`[{"op": "replace", "path": "/spec/versions/0/served", "value": %t}]`, yes)
			Expect(api.Patch(ctx, crd, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
		}
		serve(false)
		settled(ctx, policy, 0, 0, 0)
		change(ctx, policy, func(p *v1alpha1.ClusterMCPAuditPolicy) { p.Spec.Discovery.Max = 7 }) // and another pass
		settled(ctx, policy, 0, 0, 0)
		Expect(auditNamed(ctx, namespace, "kmcp-weather").UID).To(Equal(before))
		serve(true)
		settled(ctx, policy, 1, 1, 0)
		Expect(auditNamed(ctx, namespace, "kmcp-weather").UID).To(Equal(before))
		testenv.Remove(ctx, crd)
		settled(ctx, policy, 0, 0, 0)
		Expect(images(ctx, namespace)).To(BeEmpty())
	})

	It("audits the oldest, and says who is beyond max", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		for _, name := range []string{"a", "b", "c"} {
			testenv.Create(ctx, workload("Deployment", namespace, name, "r/"+name))
		}
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) { d.Max = 2 })
		settled(ctx, policy, 3, 2, 1)
		Expect(images(ctx, namespace)).To(HaveLen(2))
		skipped := policy.Status.Discovery.SkippedServers[0]
		Expect(skipped.Reason).To(Equal(v1alpha1.SkipBeyondMax))
		Expect(images(ctx, namespace)).NotTo(HaveKey("deployment-" + skipped.Name))

		change(ctx, policy, func(p *v1alpha1.ClusterMCPAuditPolicy) { p.Spec.Discovery.Max = 3 })
		settled(ctx, policy, 3, 3, 0)
		change(ctx, policy, func(p *v1alpha1.ClusterMCPAuditPolicy) { p.Spec.Discovery.Max = 1 })
		settled(ctx, policy, 3, 1, 2)
		Expect(images(ctx, namespace)).To(HaveLen(1))
	})

	It("follows the labels of namespaces, and the spec", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a"))
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) { d.NamespaceSelector.MatchLabels = map[string]string{"audited": namespace} })
		settled(ctx, policy, 0, 0, 0)
		labelled := &unstructured.Unstructured{}
		labelled.SetAPIVersion("v1")
		labelled.SetKind("Namespace")
		Expect(api.Get(ctx, client.ObjectKey{Name: namespace}, labelled)).To(Succeed())
		change(ctx, labelled, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"audited": namespace}) })
		settled(ctx, policy, 1, 1, 0)

		By("changing the template")
		change(ctx, policy, func(p *v1alpha1.ClusterMCPAuditPolicy) {
			p.Spec.Discovery.Template.Schedule = &v1alpha1.Schedule{Cron: "@daily"}
			p.Spec.Discovery.Template.Probe = &v1alpha1.ProbeTemplate{Rounds: 1}
		})
		testenv.Eventually(ctx, func(g Gomega) {
			spec := auditNamed(ctx, namespace, "deployment-a").Spec
			g.Expect(spec.Schedule).To(Equal(&v1alpha1.Schedule{Cron: "@daily"}), "and no interval besides")
			g.Expect(spec.Probe.Rounds).To(BeEquivalentTo(1))
		})

		By("selecting it no more")
		change(ctx, labelled, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"audited": "no"}) })
		settled(ctx, policy, 0, 0, 0)
		Expect(images(ctx, namespace)).To(BeEmpty())
	})

	It("lets the older of two policies have a server, and the other when that one goes", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a"))
		first := policyFor(ctx, namespace)
		settled(ctx, first, 1, 1, 0)
		uid := auditNamed(ctx, namespace, "deployment-a").UID
		// Ages have seconds only, and made-up names are in no order.
		Eventually(ctx, func() time.Duration { return time.Since(first.CreationTimestamp.Time) }).
			Should(BeNumerically(">", 2*time.Second))
		second := policyFor(ctx, namespace)
		settled(ctx, second, 1, 0, 1)
		Expect(second.Status.Discovery.SkippedServers[0].Message).To(ContainSubstring(first.Name))

		Expect(api.Delete(ctx, first)).To(Succeed())
		settled(ctx, second, 1, 1, 0)
		audit := auditNamed(ctx, namespace, "deployment-a")
		Expect(audit.Labels[discovery.LabelDiscoveredBy]).To(Equal(second.Name))
		Expect(audit.UID).To(Equal(uid), "its baseline goes on")
	})
})
