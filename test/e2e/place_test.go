//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// placed has a template laid over the audit Pod.
func placed(template v1alpha1.PodTemplate) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.PodTemplate = &template }
}

// awaitNotAllowed waits until an audit is refused with a sentence, and without a Pod.
func awaitNotAllowed(ctx context.Context, audit *v1alpha1.MCPServerAudit, sentence string) {
	GinkgoHelper()
	await(ctx, audit, func(g Gomega) {
		ready := condition(audit, v1alpha1.ConditionReady)
		g.Expect(ready.Reason).To(Equal(v1alpha1.ReasonNotAllowed), conditions(audit))
		g.Expect(ready.Message).To(ContainSubstring(sentence))
	})
	Expect(podsOf(ctx, audit)).To(BeEmpty())
}

var _ = Describe("Where an audit Pod runs", func() {
	It("is what the template of the spec says", func(ctx context.Context) {
		audit := newAudit("misbehave:slow", placed(v1alpha1.PodTemplate{
			Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"example.com/team": "notes"}, Annotations: map[string]string{"example.com/why": "audit"}},
			Spec: v1alpha1.PodTemplateSpec{
				NodeSelector:      map[string]string{corev1.LabelOSStable: "linux"},
				Tolerations:       []corev1.Toleration{{Key: "example.com/audits", Operator: corev1.TolerationOpExists}},
				PriorityClassName: "system-cluster-critical",
			},
		}))
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		pod := awaitRunning(ctx, audit)
		Expect(pod.Labels).To(HaveKeyWithValue("example.com/team", "notes"))
		Expect(pod.Annotations).To(HaveKeyWithValue("example.com/why", "audit"))
		Expect(pod.Spec.NodeSelector).To(HaveKeyWithValue(corev1.LabelOSStable, "linux"))
		Expect(pod.Spec.NodeSelector).To(HaveKeyWithValue(corev1.LabelArchStable, "amd64"), "the platform of the image")
		Expect(pod.Spec.Tolerations).To(ContainElement(HaveField("Key", "example.com/audits")))
		Expect(pod.Spec.PriorityClassName).To(Equal("system-cluster-critical"))
		Expect(k8s.Delete(ctx, audit)).To(Succeed())
	})

	DescribeTable("S8: is not chosen by what the configuration does not allow", func(ctx context.Context, change func(*v1alpha1.MCPServerAudit), key string) {
		audit := newAudit("honest-go:dev", change)
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		awaitNotAllowed(ctx, audit, key)
	},
		Entry("the open network", func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.Network = report.NetworkAllow }, "allowed.networks"),
		Entry("a priority", placed(v1alpha1.PodTemplate{Spec: v1alpha1.PodTemplateSpec{PriorityClassName: "system-node-critical"}}), "allowed.priorityClassNames"),
		Entry("a RuntimeClass", func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.RuntimeClassName = "runc" }, "allowed.runtimeClassNames"),
		Entry("an hour", timeout(time.Hour), "allowed.maxTimeout"),
	)

	It("is nowhere when no node fits, and the audit says so", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-go:dev", placed(v1alpha1.PodTemplate{
			Spec: v1alpha1.PodTemplateSpec{NodeSelector: map[string]string{"example.com/moon": "dark-side"}},
		})))
		expectInconclusive(audit, report.ReasonUnschedulable, "node affinity/selector")
		Expect(audit.Status.NextAuditTime).NotTo(BeNil(), "it will be tried again")
		Expect(audit.Status.ConsecutiveFailures).To(BeEquivalentTo(1))
		Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
	})

	It("is lost when the kubelet evicts it", func(ctx context.Context) {
		audit := settled(ctx, newAudit("misbehave:fill", timeout(10*time.Minute), func(a *v1alpha1.MCPServerAudit) {
			// The kubelet looks at what Pods have written now and then: until it does, the
			// call has to go on, which may take half of the time that the audit has.
			a.Spec.Probe.CallTimeout = metav1.Duration{Duration: 150 * time.Second}
		}))
		expectInconclusive(audit, report.ReasonEvicted, "evicted from node ")
	})
})

var _ = Describe("A run namespace that takes no Pod", Serial, func() {
	It("because its Pod Security level forbids them, is named with the fix and waited for", func(ctx context.Context) {
		const level = "pod-security.kubernetes.io/enforce"
		label := func(ctx context.Context, value string) {
			GinkgoHelper()
			mustKubectl(ctx, "", "label", "--overwrite", "namespace", runNamespace, level+"="+value)
		}
		label(ctx, "restricted")
		DeferCleanup(label, "privileged")

		audit := newAudit("honest-go:dev")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		await(ctx, audit, func(g Gomega) {
			auditing := condition(audit, v1alpha1.ConditionAuditing)
			g.Expect(auditing.Reason).To(Equal(v1alpha1.ReasonRunNamespaceUnusable))
			g.Expect(auditing.Message).To(ContainSubstring(level + "=privileged"))
		})
		label(ctx, "privileged") // of which the API server takes note somewhat later
		awaitVerdict(ctx, audit)
		expectPass(audit)
	})

	It("because its quota is used up, is waited for", func(ctx context.Context) {
		quota := &corev1.ResourceQuota{}
		quota.Namespace, quota.Name = runNamespace, "audits"
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
		most := quota.Spec.Hard[corev1.ResourcePods]
		limit := func(ctx context.Context, pods resource.Quantity) {
			GinkgoHelper()
			Expect(k8s.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
			before := quota.DeepCopy()
			quota.Spec.Hard[corev1.ResourcePods] = pods
			Expect(k8s.Patch(ctx, quota, client.MergeFrom(before))).To(Succeed())
		}
		limit(ctx, resource.MustParse("0"))
		DeferCleanup(limit, most)

		audit := newAudit("honest-go:dev")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		await(ctx, audit, func(g Gomega) {
			auditing := condition(audit, v1alpha1.ConditionAuditing)
			g.Expect(auditing.Reason).To(Equal(v1alpha1.ReasonQuotaExceeded))
			g.Expect(auditing.Message).To(ContainSubstring("exceeded quota"))
		})
		limit(ctx, most)
		awaitVerdict(ctx, audit)
		expectPass(audit)
	})
})
