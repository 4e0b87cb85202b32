//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var _ = Describe("The life of an audit", func() {
	It("leaves nothing behind when it is deleted in the middle", func(ctx context.Context) {
		audit := newAudit("misbehave:slow")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		awaitRunning(ctx, audit)

		Expect(k8s.Delete(ctx, audit)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(k8s.Get(ctx, client.ObjectKeyFromObject(audit), audit))
		}).WithContext(ctx).Should(BeTrue())
		Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
		Expect(secretsOf(ctx, audit)).To(BeEmpty())
		var reports v1alpha1.MCPAuditReportList
		Expect(k8s.List(ctx, &reports, client.InNamespace(namespace))).To(Succeed())
		Expect(reports.Items).To(BeEmpty())
	})

	// Serial: without the manager, no other audit gets on.
	It("loses nothing when the manager is restarted in the middle", Serial, func(ctx context.Context) {
		audit := newAudit("misbehave:slow", func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Env = []v1alpha1.EnvVar{{Name: "NOTES_SECONDS", Value: "8"}}
		})
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		pod := awaitRunning(ctx, audit)

		By("taking the manager away until the audit Pod has ended by itself")
		scaleManager(ctx, 0)
		DeferCleanup(scaleManager, managerReplicas)
		await(ctx, &pod, func(g Gomega) {
			g.Expect(pod.Status.Phase).To(BeElementOf(corev1.PodSucceeded, corev1.PodFailed))
		})
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(audit), audit)).To(Succeed())
		Expect(audit.Status.Verdict).To(BeEmpty())

		By("bringing it back")
		scaleManager(ctx, managerReplicas)
		awaitVerdict(ctx, audit)
		expectPass(audit)
		Expect(audit.Status.Trigger.Run).To(Equal(pod.Name), "the audit was made twice")
		Expect(reportOf(ctx, audit).Spec.Manifest.Tools).To(HaveLen(1))
		Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
	})

	It("writes nothing once it is settled", func(ctx context.Context) {
		audit := settled(ctx, newAudit("honest-go:dev"))
		Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(audit), audit)).To(Succeed())
		version := audit.ResourceVersion

		By("touching it, so that it is reconciled")
		before := audit.DeepCopy()
		metav1.SetMetaDataAnnotation(&audit.ObjectMeta, "example.com/touched", "yes")
		Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
		Expect(audit.ResourceVersion).NotTo(Equal(version))
		version = audit.ResourceVersion
		Consistently(func(g Gomega) {
			g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(audit), audit)).To(Succeed())
			g.Expect(audit.ResourceVersion).To(Equal(version))
		}).WithContext(ctx).WithTimeout(5 * time.Second).WithPolling(poll).Should(Succeed())
	})
})

func secretsOf(ctx context.Context, audit *v1alpha1.MCPServerAudit) []corev1.Secret {
	GinkgoHelper()
	var secrets corev1.SecretList
	Expect(k8s.List(ctx, &secrets, client.InNamespace(runNamespace),
		client.MatchingLabels{auditUIDLabel: string(audit.UID)})).To(Succeed())
	return secrets.Items
}

// managerReplicas is the number of replicas in config/manager, of the manager and of the gate.
const managerReplicas = int32(2)

// The Deployments of the operator.
const (
	managerDeployment = "mcpaudit-controller-manager"
	gateDeployment    = "mcpaudit-gate"
)

func scaleManager(ctx context.Context, replicas int32) { scale(ctx, managerDeployment, replicas) }

// scale waits until a Deployment of the operator has the number of Pods, and no others.
func scale(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: systemNamespace, Name: name}
	Expect(k8s.Get(ctx, key, deployment)).To(Succeed())
	before := deployment.DeepCopy()
	deployment.Spec.Replicas = &replicas
	Expect(k8s.Patch(ctx, deployment, client.MergeFrom(before))).To(Succeed())
	Eventually(func(g Gomega) {
		var pods corev1.PodList
		g.Expect(k8s.List(ctx, &pods, client.InNamespace(systemNamespace),
			client.MatchingLabels(deployment.Spec.Selector.MatchLabels))).To(Succeed())
		g.Expect(pods.Items).To(HaveLen(int(replicas)))
		g.Expect(k8s.Get(ctx, key, deployment)).To(Succeed())
		g.Expect(deployment.Status.ReadyReplicas).To(Equal(replicas))
	}).WithContext(ctx).Should(Succeed())
}
