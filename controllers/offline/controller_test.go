//go:build envtest

package offline_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/offline"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// startManager runs the controller as cmd/manager does, as the service account of
// config/rbac, until the spec ends or stop is called.
func startManager(ctx context.Context) (reconciler *offline.Reconciler, stop func()) {
	GinkgoHelper()
	manager := testenv.Manager("mcpaudit-manager", ctrl.Options{})
	store := index.New()
	reconciler = &offline.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Index: store, Clock: clock.RealClock{}}
	Expect(store.SetupWithManager(manager)).To(Succeed())
	Expect(reconciler.SetupWithManager(manager)).To(Succeed())
	stop = testenv.Run(ctx, manager)
	DeferCleanup(stop)
	return reconciler, stop
}

// audited makes an audit with a verdict on an image: a High finding, or none.
func audited(ctx context.Context, namespace, name, image string, high int32) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: image, Transport: report.TransportStdio}}}
	Expect(api.Create(ctx, audit)).To(Succeed())
	digest := v1alpha1.Digest(image[strings.Index(image, "@")+1:])
	reported := metav1.Now()
	audit.Status.LastAuditTime, audit.Status.ImageDigest = &reported, digest
	audit.Status.Audited = &v1alpha1.AuditedServer{Image: image, Digests: []v1alpha1.Digest{digest}, CommandDigest: v1alpha1.CommandDigest(nil, nil)}
	audit.Status.Findings = &v1alpha1.FindingCounts{High: high}
	ready := metav1.ConditionTrue
	if high > 0 {
		ready = metav1.ConditionFalse
	}
	for _, c := range []metav1.Condition{
		{Type: v1alpha1.ConditionAudited, Status: metav1.ConditionTrue, Reason: "Complete"}, {Type: v1alpha1.ConditionReady, Status: ready, Reason: "Judged"},
	} {
		c.LastTransitionTime = reported
		audit.Status.Conditions = append(audit.Status.Conditions, c)
	}
	Expect(as(managerUser, "system:masters").Status().Update(ctx, audit)).To(Succeed())
	return audit
}

func kept(ctx context.Context) (lists []corev1.ConfigMap, bindings []admissionv1.ValidatingAdmissionPolicyBinding) {
	GinkgoHelper()
	var l corev1.ConfigMapList
	var b admissionv1.ValidatingAdmissionPolicyBindingList
	Expect(api.List(ctx, &l, client.InNamespace(testenv.SystemNamespace), client.HasLabels{"mcpaudit.dev/offline"})).To(Succeed())
	Expect(api.List(ctx, &b, client.HasLabels{"mcpaudit.dev/offline"})).To(Succeed())
	return l.Items, b.Items
}

var _ = Describe("The controller", func() {
	AfterEach(func(ctx SpecContext) {
		Expect(api.DeleteAllOf(ctx, &v1alpha1.MCPServerAudit{}, client.InNamespace("default"))).To(Succeed())
	})

	It("has the API server deny by a policy, also when it is gone itself, until the policy is", func(ctx SpecContext) {
		reconciler, stop := startManager(ctx)
		namespace := gated(ctx)
		audited(ctx, "default", "leaky", leaky, 2)
		audited(ctx, "default", "honest", honest, 0)
		policy := &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: "strict"}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{
			Match: &v1alpha1.ClusterMatch{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}},
			Gate:  &v1alpha1.Gate{Offline: v1alpha1.OfflineRequirePassed}, Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsAll},
		}}
		Expect(api.Create(ctx, policy)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(try(ctx, runs(namespace, leaky))).To(forbidden(`which failed its audit default/leaky (2 High findings): see "kubectl mcpaudit show leaky -n default"`))
			g.Expect(try(ctx, runs(namespace, canary))).To(forbidden("which no audit that counts has passed"))
			g.Expect(try(ctx, runs(namespace, honest))).To(Succeed())
		})
		Expect(reconciler.Problem(v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: "strict"}, "")).To(BeEmpty())

		By("an exception, for as long as it is valid")
		exception := &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "known"}, Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: "strict"}, Images: []v1alpha1.Digest{v1alpha1.Digest(leaky[strings.Index(leaky, "@")+1:])},
			Reason: "known and watched", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(time.Now().Add(8 * time.Second)),
		}}
		Expect(api.Create(ctx, exception)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(try(ctx, runs(namespace, leaky))).To(Succeed()) })
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(try(ctx, runs(namespace, leaky))).To(forbidden("leaky")) })

		By("nothing is written while nothing changes")
		before, bound := kept(ctx)
		Expect(before).To(HaveLen(2))
		audit := &v1alpha1.MCPServerAudit{}
		Expect(api.Get(ctx, client.ObjectKey{Namespace: "default", Name: "honest"}, audit)).To(Succeed())
		Consistently(ctx, func(g Gomega) {
			after, afterBound := kept(ctx)
			g.Expect(after).To(Equal(before))
			g.Expect(afterBound).To(Equal(bound))
		}).WithTimeout(3 * time.Second).Should(Succeed())

		By("without the operator")
		stop()
		Expect(try(ctx, runs(namespace, leaky))).To(forbidden("leaky"))

		By("what somebody changed is put right, and what is left over goes")
		list := before[0].DeepCopy()
		list.Data = nil
		Expect(api.Update(ctx, list)).To(Succeed())
		_, _ = startManager(ctx)
		testenv.Eventually(ctx, func(g Gomega) {
			after, _ := kept(ctx)
			g.Expect(after).To(HaveLen(2))
			g.Expect(after[0].Data).To(Equal(before[0].Data))
		})
		Expect(api.Delete(ctx, policy)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			after, bindings := kept(ctx)
			g.Expect(after).To(BeEmpty())
			g.Expect(bindings).To(BeEmpty())
		})
		Expect(api.Delete(ctx, exception)).To(Succeed())
	})

	It("warns where the policy warns, and changes with the policy", func(ctx SpecContext) {
		_, _ = startManager(ctx)
		namespace := gated(ctx)
		audited(ctx, namespace, "leaky", leaky, 2)
		policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "notes"}, Spec: v1alpha1.MCPAuditPolicySpec{
			Gate: v1alpha1.Gate{Mode: v1alpha1.GateWarn, Targets: []v1alpha1.GateTarget{v1alpha1.TargetPods}},
		}}
		Expect(api.Create(ctx, policy)).To(Succeed())
		name := client.ObjectKey{Name: "mcpaudit-denied.namespace." + namespace + ".notes"}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(api.Get(ctx, name, binding)).To(Succeed()) })
		Expect(binding.Spec.ValidationActions).To(ConsistOf(admissionv1.Warn, admissionv1.Audit))
		policy.Spec.Gate.Mode = v1alpha1.GateEnforce
		Expect(api.Update(ctx, policy)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(try(ctx, runs(namespace, leaky))).To(forbidden("(policy notes)")) })
		Expect(try(ctx, workloads(namespace, corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: leaky}}})[1])).To(Succeed(), "targets are Pods")
		policy.Spec.Gate.Offline = v1alpha1.OfflineNone
		Expect(api.Update(ctx, policy)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(apierrors.IsNotFound(api.Get(ctx, name, binding))).To(BeTrue()) })
	})

	It("leaves a binding alone that it did not make, and says so", func(ctx SpecContext) {
		foreign := &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "mcpaudit-denied.cluster.taken"},
			Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "somebody-elses", ValidationActions: []admissionv1.ValidationAction{admissionv1.Audit}},
		}
		Expect(api.Create(ctx, foreign)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, foreign)).To(Succeed()) })
		reconciler, _ := startManager(ctx)
		policy := &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{
			Gate: &v1alpha1.Gate{}, Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsAll},
		}}
		Expect(api.Create(ctx, policy)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, policy)).To(Succeed()) })
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(reconciler.Problem(v1alpha1.PolicyReference{Kind: "ClusterMCPAuditPolicy", Name: "taken"}, "")).To(ContainSubstring("the operator did not make"))
		})
		there := &admissionv1.ValidatingAdmissionPolicyBinding{}
		Expect(api.Get(ctx, client.ObjectKeyFromObject(foreign), there)).To(Succeed())
		Expect(there.Spec.PolicyName).To(Equal("somebody-elses"))
	})
})
