//go:build envtest

package audit_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

var _ = Describe("The pull secrets of an audit", func() {
	const dockerConfig = `{"auths":{}}`
	var (
		b        *bench
		original *corev1.Secret
	)
	copies := func(ctx context.Context) []corev1.Secret {
		GinkgoHelper()
		var secrets corev1.SecretList
		Expect(api.List(ctx, &secrets, client.InNamespace(runNamespace), client.MatchingLabels{podspec.LabelNamespace: b.key.Namespace})).To(Succeed())
		return secrets.Items
	}
	BeforeEach(func(ctx SpecContext) {
		b = newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}}
		})
		original = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(dockerConfig), "other": []byte("is not copied")},
		}
	})

	It("are waited for, copied for the Pod, and removed after success", func(ctx SpecContext) {
		b.reconcile(ctx)
		Expect(message(b.audit(ctx), "Ready")).To(ContainSubstring("registry must be a Secret of type kubernetes.io/dockerconfigjson in the namespace of the audit"))
		Expect(b.pods(ctx)).To(BeEmpty())

		Expect(api.Create(ctx, original)).To(Succeed())
		b.reconcile(ctx)
		Expect(b.images.secrets).To(HaveLen(1))
		Expect(copies(ctx)).To(HaveLen(1))
		Expect(copies(ctx)[0].Data).To(Equal(map[string][]byte{corev1.DockerConfigJsonKey: []byte(dockerConfig)}))
		Expect(copies(ctx)[0].Type).To(Equal(corev1.SecretTypeDockerConfigJson))
		Expect(b.pod(ctx).Spec.ImagePullSecrets).To(ConsistOf(corev1.LocalObjectReference{Name: copies(ctx)[0].Name}))

		b.ends(ctx, clean())
		Expect(copies(ctx)).To(BeEmpty())

		By("writing nothing more")
		b.Client = b.intercept(interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				return errors.New("something is deleted again")
			},
		})
		b.reconcile(ctx)
	})

	It("are removed after a failure", func(ctx SpecContext) {
		Expect(api.Create(ctx, original)).To(Succeed())
		b.reconcile(ctx)
		Expect(copies(ctx)).To(HaveLen(1))
		b.status(ctx, b.pod(ctx), func(s *corev1.PodStatus) {
			s.ContainerStatuses = []corev1.ContainerStatus{ended("runner", 137, "OOMKilled", "")}
		})
		b.reconcile(ctx)
		Expect(b.audit(ctx)).To(haveCondition("Audited", "OOMKilled"))
		Expect(copies(ctx)).To(BeEmpty())
	})

	It("are removed with the audit", func(ctx SpecContext) {
		Expect(api.Create(ctx, original)).To(Succeed())
		b.reconcile(ctx)
		Expect(copies(ctx)).To(HaveLen(1))
		Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
		b.reconcile(ctx)
		Expect(copies(ctx)).To(BeEmpty())
	})

	It("are removed late if the manager was stopped before it could", func(ctx SpecContext) {
		Expect(api.Create(ctx, original)).To(Succeed())
		b.reconcile(ctx)
		b.finish(ctx, b.pod(ctx), clean())
		b.Client = b.intercept(interceptor.Funcs{
			DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
				return errors.New("the manager is stopped")
			},
		})
		_, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
		Expect(err).To(HaveOccurred())
		Expect(b.audit(ctx)).To(haveCondition("Auditing", "Idle"))
		Expect(copies(ctx)).To(HaveLen(1))
		b.Client = api
		b.reconcile(ctx)
		Expect(copies(ctx)).To(BeEmpty())
	})

	Context("while the Pod is refused", func() {
		BeforeEach(func(ctx SpecContext) {
			Expect(api.Create(ctx, original)).To(Succeed())
			b.refuses("Pod")
			b.reconcile(ctx)
			Expect(copies(ctx)).To(HaveLen(1))
			Expect(b.pods(ctx)).To(BeEmpty())
			b.Client = api
		})

		It("are the same when it is tried again", func(ctx SpecContext) {
			before := copies(ctx)[0]
			b.reconcile(ctx)
			Expect(copies(ctx)).To(HaveLen(1))
			Expect(copies(ctx)[0].UID).To(Equal(before.UID))
			Expect(b.pod(ctx).Spec.ImagePullSecrets).To(ConsistOf(corev1.LocalObjectReference{Name: before.Name}))
		})

		It("are removed when the audit is suspended", func(ctx SpecContext) {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = true })
			b.reconcile(ctx)
			Expect(copies(ctx)).To(BeEmpty())
		})

		It("are removed when the audit is suspended and drops them", func(ctx SpecContext) {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend, a.Spec.Server.ImagePullSecrets = true, nil })
			b.reconcile(ctx)
			Expect(copies(ctx)).To(BeEmpty())
		})

		It("are removed when the spec drops them", func(ctx SpecContext) {
			b.change(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.ImagePullSecrets = nil })
			b.audited(ctx, clean())
			Expect(copies(ctx)).To(BeEmpty())
		})

		It("may change although a policy makes all secrets immutable", func(ctx SpecContext) {
			copied := copies(ctx)[0]
			copied.Immutable = new(true)
			Expect(api.Update(ctx, &copied)).To(Succeed())
			original.Data[corev1.DockerConfigJsonKey] = []byte(`{"auths":{"registry.example":{}}}`)
			Expect(api.Update(ctx, original)).To(Succeed())
			b.reconcile(ctx)
			named := b.pod(ctx).Spec.ImagePullSecrets
			Expect(named).To(HaveLen(1))
			fresh := &corev1.Secret{}
			Expect(api.Get(ctx, client.ObjectKey{Namespace: runNamespace, Name: named[0].Name}, fresh)).To(Succeed())
			Expect(fresh.Data).To(HaveKeyWithValue(corev1.DockerConfigJsonKey, original.Data[corev1.DockerConfigJsonKey]))
			b.ends(ctx, clean())
			Expect(copies(ctx)).To(BeEmpty())
		})

		It("leave the Secret of somebody else alone", func(ctx SpecContext) {
			copied := copies(ctx)[0]
			Expect(api.Delete(ctx, &copied)).To(Succeed())
			foreign := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: runNamespace, Name: copied.Name}, Data: map[string][]byte{"a": []byte("b")},
			}
			Expect(api.Create(ctx, foreign)).To(Succeed())
			b.reconcile(ctx)
			Expect(b.pods(ctx)).To(BeEmpty())
			Expect(b.audit(ctx)).To(haveCondition("Auditing", "AuditPodRefused"))
			Expect(message(b.audit(ctx), "Auditing")).To(And(ContainSubstring(copied.Name), ContainSubstring("not of this audit, delete it")))
			Expect(api.Delete(ctx, b.audit(ctx))).To(Succeed())
			b.reconcile(ctx)
			Expect(api.Get(ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
			Expect(foreign.Data).To(Equal(map[string][]byte{"a": []byte("b")}))
			Expect(foreign.Labels).To(BeEmpty())
			Expect(api.Delete(ctx, foreign)).To(Succeed())
		})
	})
})
