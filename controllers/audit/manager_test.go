//go:build envtest

package audit_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// startManager runs the controller as cmd/manager does, as the service account of
// config/rbac and with the surroundings of the bench. The caller stops it.
func (b *bench) startManager(ctx context.Context) (stop func()) {
	GinkgoHelper()
	manager := testenv.Manager("mcpaudit-manager", ctrl.Options{
		Cache:  cache.Options{ByObject: audit.CacheOptions(runNamespace)},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: audit.Uncached()}},
	})
	b.Client, b.Live = manager.GetClient(), manager.GetAPIReader()
	Expect(b.SetupWithManager(manager)).To(Succeed())
	return testenv.Run(ctx, manager)
}

var _ = Describe("the manager", func() {
	It("is driven by audits and Pods, and loses nothing when it is restarted", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}}
		})
		Expect(api.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
		})).To(Succeed())
		stop := b.startManager(ctx)

		By("reading no secret that its namespace does not let it read")
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Auditing", "ResolvingImage"))
			g.Expect(message(b.audit(ctx), "Auditing")).To(HaveSuffix("Allow it: `kubectl create rolebinding mcpaudit-pull-secret-reader --namespace=" +
				b.key.Namespace + " --clusterrole=mcpaudit-pull-secret-reader --serviceaccount=mcpaudit-system:mcpaudit-manager`."))
		})
		Expect(api.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "mcpaudit-pull-secret-reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mcpaudit-pull-secret-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "mcpaudit-system", Name: "mcpaudit-manager"}},
		})).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Running")) })
		stop()

		By("finishing the audit while no manager is there")
		pod := b.pod(ctx)
		b.finish(ctx, pod, clean(leaks))
		stop = b.startManager(ctx)
		defer func() { stop() }()
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "FindingsAboveThreshold"))
			g.Expect(b.pods(ctx)).To(BeEmpty())
		})
		Expect(b.reports(ctx)).To(HaveLen(1))

		By("answering a request, and the end of a Pod")
		b.request(ctx, "now")
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) })
		b.finish(ctx, b.pod(ctx), clean(advertises(sha("3"), sha("4"))))
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "ManifestDrifted"))
			g.Expect(b.pods(ctx)).To(BeEmpty())
		})
		Expect(b.audit(ctx).Status.Drift.Changed).To(ConsistOf("tool format_note"))
		Expect(b.reports(ctx)).To(HaveLen(2))

		By("pruning")
		b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.HistoryLimit = new(int32(0)) })
		b.request(ctx, "and now")
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) })
		b.finish(ctx, b.pod(ctx), clean())
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
			g.Expect(b.reports(ctx)).To(HaveLen(1))
		})

		By("cleaning up after the object")
		b.request(ctx, "again")
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) })
		Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Get(ctx, b.key, &v1alpha1.MCPServerAudit{})).NotTo(Succeed())
			g.Expect(b.pods(ctx)).To(BeEmpty())
		})
	})

	It("sweeps the Pod of an audit that lost its finalizer, while it runs", func(ctx SpecContext) {
		b := newBench(ctx)
		stop := b.startManager(ctx)
		defer stop()
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) })
		again := b.audit(ctx)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		Expect(api.Patch(ctx, again, patch)).To(Succeed())
		Expect(api.Delete(ctx, again)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(BeEmpty()) })
	})

	It("sweeps what belongs to no audit", func(ctx SpecContext) {
		b := newBench(ctx)
		b.reconcile(ctx)
		labels := map[string]string{podspec.LabelManagedBy: podspec.ManagedBy, podspec.LabelUID: "gone"}
		orphan := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, GenerateName: "orphan-", Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "a"}}},
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, GenerateName: "orphan-", Labels: labels}}
		stranger := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, GenerateName: "stranger-"}}
		for _, object := range []client.Object{orphan, secret, stranger} {
			Expect(api.Create(ctx, object)).To(Succeed())
		}
		stop := b.startManager(ctx)
		defer stop()
		testenv.Eventually(ctx, func(g Gomega) {
			for _, object := range []client.Object{orphan, secret} {
				g.Expect(apierrors.IsNotFound(api.Get(ctx, client.ObjectKeyFromObject(object), object))).To(BeTrue())
			}
		})
		Expect(b.pods(ctx)).To(HaveLen(1))
		Expect(api.Get(ctx, client.ObjectKeyFromObject(stranger), stranger)).To(Succeed())
	})
})
