//go:build envtest

package discovery_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// versions are the resource versions of all that discovery writes.
func versions(ctx context.Context) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, audit := range audits(ctx, "") {
		found[audit.Namespace+"/"+audit.Name] = audit.ResourceVersion
	}
	var policies v1alpha1.ClusterMCPAuditPolicyList
	Expect(api.List(ctx, &policies)).To(Succeed())
	for _, policy := range policies.Items {
		found[policy.Name] = policy.ResourceVersion
	}
	return found
}

// anotherPass has the controller look at everything once more: somebody's audit comes
// and goes.
func anotherPass(ctx context.Context) {
	GinkgoHelper()
	audit := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "wakes-it-"},
		Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a"}},
	}
	for _, do := range []func() error{
		func() error { return api.Create(ctx, audit) }, func() error { return api.Delete(ctx, audit) },
	} {
		before, _ := testenv.Passes()
		Expect(do()).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { all, _ := testenv.Passes(); g.Expect(all).To(BeNumerically(">", before)) })
	}
}

var _ = Describe("what discovery makes", Ordered, func() {
	var stop func()
	BeforeAll(func() { stop = startManager(context.Background()) })
	AfterAll(func() { stop() })

	It("is not written while it is as it should be, nor by a restart", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		for i := range 20 {
			testenv.Create(ctx, workload("Deployment", namespace, fmt.Sprintf("server-%02d", i), "r/a"))
		}
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) {
			d.Max = 10
			d.Template.Sandbox = &v1alpha1.Sandbox{RuntimeClassName: "gvisor"}
			d.Template.Timeout = &metav1.Duration{Duration: 90 * time.Second}
		})
		settled(ctx, policy, 20, 10, 10)
		anotherPass(ctx)
		steady := versions(ctx)
		for range 3 {
			anotherPass(ctx)
		}
		Expect(versions(ctx)).To(Equal(steady))

		stop()
		before, _ := testenv.Passes()
		stop = startManager(context.Background())
		testenv.Eventually(ctx, func(g Gomega) { all, _ := testenv.Passes(); g.Expect(all).To(BeNumerically(">", before+1)) })
		anotherPass(ctx)
		Expect(versions(ctx)).To(Equal(steady))
	})

	It("keeps what a person adds, and takes back what the policy says", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a"))
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) {
			d.Template.Baseline = &v1alpha1.BaselineTemplate{Mode: v1alpha1.BaselineTrustOnFirstUse}
		})
		settled(ctx, policy, 1, 1, 0)
		digest := v1alpha1.Digest("sha256:" + strings.Repeat("0a", 32))
		audit := auditNamed(ctx, namespace, "deployment-a")
		change(ctx, audit, func(a *v1alpha1.MCPServerAudit) {
			a.Labels["team"] = "mine"
			a.Spec.Server.Env = []v1alpha1.EnvVar{{Name: "TOKEN", Value: "a made-up one"}}
			a.Spec.Suppressions = []report.Suppression{{Rule: "MCPA-EGRESS-001", Match: "*", Reason: "It is known.", Until: report.At(time.Now().Add(time.Hour))}}
			a.Spec.Baseline = v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: digest}
			a.Spec.Server.Image = "r/another"
		})
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(images(ctx, namespace)).To(HaveKeyWithValue("deployment-a", "r/a")) })
		change(ctx, policy, func(p *v1alpha1.ClusterMCPAuditPolicy) { p.Spec.Discovery.Template.FailOn = "Low" })
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(auditNamed(ctx, namespace, "deployment-a").Spec.FailOn).To(BeEquivalentTo("Low"))
		})
		audit = auditNamed(ctx, namespace, "deployment-a")
		Expect(audit.Labels).To(HaveKeyWithValue("team", "mine"))
		Expect(audit.Spec.Server.Env).To(HaveLen(1))
		Expect(audit.Spec.Suppressions).To(HaveLen(1))
		Expect(audit.Spec.Baseline).To(Equal(v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: digest}))
		anotherPass(ctx)
		steady := versions(ctx)
		anotherPass(ctx)
		Expect(versions(ctx)).To(Equal(steady))
	})

	It("leaves the audits of others alone", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		mine := &v1alpha1.MCPServerAudit{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "deployment-a"},
			Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "r/mine"}},
		}
		Expect(api.Create(ctx, mine)).To(Succeed())
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a")+"---"+workload("Deployment", namespace, "b", "r/b"))
		policy := policyFor(ctx, namespace)
		settled(ctx, policy, 2, 1, 1)
		Expect(policy.Status.Discovery.SkippedServers[0].Reason).To(Equal(v1alpha1.SkipNameTaken))
		Expect(images(ctx, namespace)).To(HaveKeyWithValue("deployment-a", "r/mine"))

		By("giving one away")
		change(ctx, auditNamed(ctx, namespace, "deployment-b"), func(a *v1alpha1.MCPServerAudit) { delete(a.Labels, discovery.LabelDiscoveredBy) })
		settled(ctx, policy, 2, 0, 2)

		By("going away")
		Expect(api.Delete(ctx, policy)).To(Succeed())
		anotherPass(ctx)
		Expect(images(ctx, namespace)).To(HaveLen(2))

		By("making one when the name is free")
		again := policyFor(ctx, namespace)
		settled(ctx, again, 2, 0, 2)
		Expect(api.Delete(ctx, mine)).To(Succeed())
		settled(ctx, again, 2, 1, 1)
		Expect(images(ctx, namespace)).To(HaveKeyWithValue("deployment-a", "r/a"))
	})

	It("is made again when somebody deletes it", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a"))
		policy := policyFor(ctx, namespace)
		settled(ctx, policy, 1, 1, 0)
		audit := auditNamed(ctx, namespace, "deployment-a")
		Expect(api.Delete(ctx, audit)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			found := &v1alpha1.MCPServerAudit{}
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(audit), found)).To(Succeed())
			g.Expect(found.UID).NotTo(Equal(audit.UID))
		})
	})

	It("goes when the policy was deleted while no manager was there", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a"))
		policy := policyFor(ctx, namespace)
		settled(ctx, policy, 1, 1, 0)
		stop()
		Expect(api.Delete(ctx, policy)).To(Succeed())
		stop = startManager(context.Background())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(images(ctx, namespace)).To(BeEmpty()) })
	})

	It("is told when the API server refuses it, and tries the others", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		refusal := testenv.Create(ctx, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [mcpaudit.dev], apiVersions: [v1alpha1], operations: [CREATE], resources: [mcpserveraudits]}]}
  validations: [{expression: "object.metadata.namespace != '%[1]s' || object.metadata.name != 'deployment-a'", message: "this one is not wanted"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, namespace))
		DeferCleanup(func(ctx context.Context) {
			for _, object := range refusal {
				Expect(api.Delete(ctx, object)).To(Succeed())
			}
		})
		testenv.Eventually(ctx, func(g Gomega) {
			probe := &v1alpha1.MCPServerAudit{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "deployment-a"},
				Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a"}},
			}
			g.Expect(api.Create(ctx, probe, client.DryRunAll)).To(MatchError(ContainSubstring("not wanted")))
		})
		testenv.Create(ctx, workload("Deployment", namespace, "a", "r/a")+"---"+workload("Deployment", namespace, "b", "r/b"))
		policy := policyFor(ctx, namespace)
		settled(ctx, policy, 2, 1, 1)
		skipped := policy.Status.Discovery.SkippedServers[0]
		Expect(skipped.Reason).To(Equal(v1alpha1.SkipRefused))
		Expect(skipped.Message).To(ContainSubstring("this one is not wanted"))
	})

	It("takes a storm of new servers", func(ctx SpecContext) {
		namespace := testenv.Namespace(ctx, nil)
		policy := policyFor(ctx, namespace, func(d *v1alpha1.Discovery) { d.Max = 5000 })
		const storm = 300
		for i := range storm {
			testenv.Create(ctx, workload("Deployment", namespace, fmt.Sprintf("server-%03d", i), "r/a"))
		}
		settled(ctx, policy, storm, storm, 0)
		Expect(images(ctx, namespace)).To(HaveLen(storm))
	})
})

var _ = Describe("a ClusterMCPAuditPolicy", func() {
	DescribeTable("is refused", func(ctx SpecContext, name, spec, message string) {
		text := fmt.Sprintf("apiVersion: mcpaudit.dev/v1alpha1\nkind: ClusterMCPAuditPolicy\nmetadata: {name: %s}\nspec: %s\n", name, spec)
		object := testenv.Decode(text)[0]
		Expect(api.Create(ctx, object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))).To(MatchError(ContainSubstring(message)))
	},
		Entry("with a long name", strings.Repeat("a", 64), "{}", "no more than 63 characters"),
		Entry("with an unknown source", "p", "{discovery: {sources: [Docker]}}", "Unsupported value"),
		Entry("with a pinned baseline", "p", "{discovery: {template: {baseline: {mode: Pinned}}}}", "a digest is one server's"),
		Entry("with too many", "p", "{discovery: {max: 5001}}", "5000"),
		Entry("with a server", "p", "{discovery: {template: {server: {image: a}}}}", "unknown field"),
		Entry("with cron and interval", "p", "{discovery: {template: {schedule: {cron: '@daily', interval: 1h}}}}", "either cron or interval"),
		Entry("with a short timeout", "p", "{discovery: {template: {timeout: 1s}}}", "between 10s and 1h"),
	)

	It("has defaults, and the sample is valid", func(ctx SpecContext) {
		object := testenv.Decode("apiVersion: mcpaudit.dev/v1alpha1\nkind: ClusterMCPAuditPolicy\nmetadata: {name: p}\nspec: {discovery: {}}\n")[0]
		Expect(api.Create(ctx, object, client.DryRunAll)).To(Succeed())
		Expect(object.Object["spec"]).To(Equal(map[string]any{"discovery": map[string]any{
			"max": int64(100), "template": map[string]any{"schedule": map[string]any{"interval": "24h0m0s"}}}}))
		Expect(object.Object["status"]).To(Equal(map[string]any{"observedGeneration": int64(-1)}))
		sample := testenv.Decode(sampleText())[0]
		Expect(api.Create(ctx, sample, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed())
	})
})
