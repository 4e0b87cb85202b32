//go:build envtest

package audit_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

var _ = Describe("an audit that the run namespace refuses", func() {
	It("gives up a Pod that a policy refuses", func(ctx SpecContext) {
		b := newBench(ctx, retries(0))
		b.refuses("Pod")
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.audit(ctx)).To(haveCondition("Ready", "AuditPodRefused"))
		b.reconcile(ctx)
		Expect(b.events.list()).To(ConsistOf(HavePrefix("AuditPodRefused: The audit Pod is refused in the run namespace")), "once, however long it waits")
		b.backdate(ctx)
		Expect(b.reconcile(ctx)).To(BeZero())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "SandboxFailed")))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("within 10m0s"), ContainSubstring("no tracing here")))
	})

	It("gives up without a run namespace", func(ctx SpecContext) {
		b := newBench(ctx)
		b.Options.RunNamespace = "missing"
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring(`namespaces "missing" not found`))
		b.backdate(ctx)
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "RunNamespaceUnusable")))
		Expect(message(b.audit(ctx), "Audited")).To(And(ContainSubstring("The run namespace missing does not exist"), ContainSubstring("kubectl apply -k config/runs")))
		Expect(b.events.list()).To(ConsistOf(HavePrefix("RunNamespaceUnusable: The run namespace missing"), HavePrefix("RunNamespaceUnusable: The audit could not")))
	})

	It("says how a run namespace is made privileged", func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "runs-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}}}
		Expect(api.Create(ctx, namespace)).To(Succeed())
		b := newBench(ctx)
		b.Options.RunNamespace = namespace.Name
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		fix := "kubectl label --overwrite namespace " + namespace.Name + " pod-security.kubernetes.io/enforce=privileged"
		Expect(message(b.audit(ctx), "Auditing")).To(And(ContainSubstring(fix), ContainSubstring("violates PodSecurity")))
		Expect(b.events.list()).To(ConsistOf(And(HavePrefix("RunNamespaceUnusable: "), ContainSubstring(fix))))

		By("doing so")
		namespace.Labels["pod-security.kubernetes.io/enforce"] = "privileged"
		Expect(api.Update(ctx, namespace)).To(Succeed())
		Eventually(func(g Gomega) {
			b.reconcile(ctx)
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Running"))
		}).Should(Succeed())
	})

	DescribeTable("can be deleted without a role in the run namespace", func(ctx SpecContext, runs string, ends bool) {
		b := newBench(ctx)
		b.reconcile(ctx)
		b.Options.RunNamespace = runs
		b.Client = b.intercept(interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no role"))
			},
		})
		Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err == nil).To(Equal(ends))
		Expect(apierrors.IsNotFound(api.Get(ctx, b.key, &v1alpha1.MCPServerAudit{}))).To(Equal(ends))
	},
		Entry("if the namespace is gone", "missing", true), Entry("but not if it is there", runNamespace, false),
	)

	It("waits for room in the run namespace", func(ctx SpecContext) {
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, Name: "full"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		Expect(api.Create(ctx, quota)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, quota)).To(Succeed()) })
		quota.Status.Hard = quota.Spec.Hard // there is no controller that would
		quota.Status.Used = quota.Spec.Hard
		Expect(api.Status().Update(ctx, quota)).To(Succeed())

		b := newBench(ctx)
		Eventually(func(g Gomega) { // until the API server's own cache has the quota
			for _, pod := range b.pods(ctx) {
				g.Expect(api.Delete(ctx, &pod)).To(Succeed())
			}
			g.Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "QuotaExceeded"))
		}).Should(Succeed())
		Expect(message(b.audit(ctx), "Ready")).To(And(ContainSubstring("exceeded quota"), ContainSubstring("raise the ResourceQuota")))
		b.backdate(ctx)
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "QuotaExceeded"), haveCondition("Auditing", "QuotaExceeded")), "room comes, however late")
		Expect(strings.Count(strings.Join(b.events.list(), "\n"), "QuotaExceeded: ")).To(Equal(1))
	})
})
