//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// filled is a suspended audit with so many bytes of arguments for a tool, and so many
// variables of a KiB.
func filled(arguments, variables int) *v1alpha1.MCPServerAudit {
	return newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Suspend = true
		a.Spec.Probe.Inputs = []v1alpha1.ToolInput{{Tool: "format_note", Arguments: runtime.RawExtension{Raw: []byte(`{"note":"` + strings.Repeat("x", arguments) + `"}`)}}}
		for i := range variables {
			variable(fmt.Sprint("V", i), strings.Repeat("x", 1<<10))(a)
		}
	})
}

// crowded are more labels than an object of ours may have.
func crowded() map[string]string {
	labels := map[string]string{}
	for i := range 500 {
		labels[fmt.Sprint("label-", i)] = strings.Repeat("x", 60)
	}
	return labels
}

// wide is a selector of more than 64 KiB.
func wide() *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	for i := range 32 {
		values := make([]string, 32)
		for j := range values {
			values[j] = fmt.Sprintf("%s-%d-%d", strings.Repeat("x", 80), i, j)
		}
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: fmt.Sprint("k", i), Operator: metav1.LabelSelectorOpIn, Values: values})
	}
	return s
}

// restarts counts how often containers of the operator were started again.
func restarts(ctx context.Context) (count int32) {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(k8s.List(ctx, &pods, client.InNamespace(systemNamespace))).To(Succeed())
	for _, p := range pods.Items {
		for _, status := range p.Status.ContainerStatuses {
			count += status.RestartCount
		}
	}
	return count
}

var _ = Describe("A tenant with large objects", func() {
	It("S5: has them refused beyond a bound", func(ctx context.Context) {
		t := tenant(ctx)
		Eventually(func() error { return t.create(ctx, filled(31<<10, 28)).err }).WithContext(ctx).Should(Succeed())
		labels := filled(0, 0)
		labels.Labels = crowded()
		exception := &v1alpha1.MCPAuditException{ObjectMeta: meta("large"), Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "large"}, ObjectSelector: wide(),
			Reason: "It is large.", Ticket: "TEST-3", ExpiresAt: metav1.NewTime(inAYear()),
		}}
		for _, test := range []struct {
			object client.Object
			bound  string
		}{
			{filled(33<<10, 0), "more than 32 KiB of arguments"},
			{filled(1300<<10, 0), "more than 32 KiB of arguments"},
			{filled(31<<10, 40), "spec has more than 64 KiB"},
			{labels, "metadata has more than 16 KiB"},
			{&v1alpha1.MCPAuditPolicy{ObjectMeta: meta("large"), Spec: v1alpha1.MCPAuditPolicySpec{Match: &v1alpha1.Match{ObjectSelector: wide()}}}, "spec has more than 64 KiB"},
			{exception, "spec has more than 64 KiB"},
		} {
			Expect(t.create(ctx, test.object).err).To(MatchError(ContainSubstring(test.bound)))
		}
	})

	It("S5: stops neither the manager nor the gate with many that are as large as they may be", func(ctx context.Context) {
		gate(ctx)
		t, before := tenant(ctx), restarts(ctx)
		for range 60 {
			Expect(t.Create(ctx, filled(31<<10, 28))).To(Succeed())
		}
		expectPass(settled(ctx, newAudit("honest-go:dev")))
		awaitAdmitted(ctx, pod(byDigest(reviewed(ctx).honest)))
		awaitDenied(ctx, pod(unaudited))
		Expect(restarts(ctx)).To(Equal(before))
	})
})

// closed is the configuration of the end-to-end tests without the section allowed, but for
// the open network.
const closed = `
slots: {total: 4, perNamespace: 3}
registries: {plainHTTP: ["10.77.0.1:5000", "10.77.0.1:5001"]}
allowed: {networks: [Sinkhole, Deny, Allow]}
`

// configure starts the manager with a configuration, until the specs are over.
func configure(ctx context.Context, text string) {
	GinkgoHelper()
	const file = "config.yaml"
	manager, configuration := &appsv1.Deployment{}, &corev1.ConfigMap{}
	Expect(k8s.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: managerDeployment}, manager)).To(Succeed())
	key := client.ObjectKey{Namespace: systemNamespace} // kustomize names it by its content
	for _, volume := range manager.Spec.Template.Spec.Volumes {
		if volume.Name == "config" {
			key.Name = volume.ConfigMap.Name
		}
	}
	Expect(k8s.Get(ctx, key, configuration)).To(Succeed())
	set := func(ctx context.Context, text string) {
		GinkgoHelper()
		scaleManager(ctx, 0)
		Expect(k8s.Get(ctx, key, configuration)).To(Succeed())
		configuration.Data[file] = text
		Expect(k8s.Update(ctx, configuration)).To(Succeed())
		scaleManager(ctx, managerReplicas)
	}
	DeferCleanup(set, configuration.Data[file])
	set(ctx, text)
}

var _ = Describe("Under a configuration that allows nothing but the open network", Serial, Ordered, func() {
	BeforeAll(func(ctx context.Context) { configure(ctx, closed) })

	It("S8: no audit chooses its node, its priority, its runtime, a URL or an hour", func(ctx context.Context) {
		template := func(spec v1alpha1.PodTemplateSpec) *v1alpha1.MCPServerAudit {
			return newAudit("honest-go:dev", placed(v1alpha1.PodTemplate{Spec: spec}))
		}
		audits := map[string]*v1alpha1.MCPServerAudit{
			"nodeSelector is not allowed by allowed.placement":                    template(v1alpha1.PodTemplateSpec{NodeSelector: map[string]string{corev1.LabelHostname: "mcpaudit"}}),
			"tolerations is not allowed by allowed.placement":                     template(v1alpha1.PodTemplateSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}),
			"schedulerName is not allowed by allowed.placement":                   template(v1alpha1.PodTemplateSpec{SchedulerName: "nobody"}),
			`"system-node-critical" is not allowed by allowed.priorityClassNames`: template(v1alpha1.PodTemplateSpec{PriorityClassName: "system-node-critical"}),
			`"runc" is not allowed by allowed.runtimeClassNames`:                  newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) { a.Spec.Sandbox.RuntimeClassName = "runc" }),
			"is not allowed by allowed.urls":                                      elsewhere("https://mcp.example.com/mcp"),
			"1h0m0s is not allowed by allowed.maxTimeout":                         newAudit("honest-go:dev", timeout(time.Hour)),
		}
		for _, audit := range audits {
			Expect(k8s.Create(ctx, audit)).To(Succeed())
		}
		for sentence, audit := range audits {
			awaitNotAllowed(ctx, audit, sentence)
		}
	})

	It("L7: no audit passes by code that its server fetches", func(ctx context.Context) {
		gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(fetched)) }))
		audit := settled(ctx, newAudit(variant(ctx, "honest-node:dev", "fetched"), func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Command = []string{"node", "-e", fmt.Sprintf(launcher, privateAddress)}
			a.Spec.Sandbox.Network = report.NetworkAllow
		}))
		Expect(condition(audit, v1alpha1.ConditionAudited).Reason).To(Equal(string(report.ReasonCodeFetched)), conditions(audit))
		Expect(audit.Status.Verdict).NotTo(Equal(v1alpha1.VerdictPass))
		awaitDeniedAs(ctx, running(byDigest(audit), audit.Spec.Server.Command...), audit.Name)
		awaitDeniedAs(ctx, pod(byDigest(audit)), "another command")
	})
})
