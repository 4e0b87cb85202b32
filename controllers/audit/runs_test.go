//go:build envtest

package audit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// bounded makes a run namespace with the LimitRange and the ResourceQuota of
// config/runs. The status of the quota is that of an empty namespace: the
// controller that would write it does not run here, and the admission of Pods does.
func bounded(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "runs-"}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	read := func(name string, into client.Object) {
		GinkgoHelper()
		content, err := os.ReadFile(filepath.Join("..", "..", "config", "runs", name))
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.UnmarshalStrict(content, into)).To(Succeed())
		into.SetNamespace(namespace.Name)
		Expect(api.Create(ctx, into)).To(Succeed())
	}
	read("limit_range.yaml", &corev1.LimitRange{})
	quota := &corev1.ResourceQuota{}
	read("quota.yaml", quota)
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, corev1.ResourceList{}
	for name := range quota.Spec.Hard {
		quota.Status.Used[name] = resource.MustParse("0")
	}
	Expect(api.Status().Update(ctx, quota)).To(Succeed())
	return namespace.Name
}

var _ = Describe("The run namespace", func() {
	var (
		b    *bench
		runs string
	)
	limits := func(cpu, memory, storage string) func(*v1alpha1.MCPServerAudit) {
		return func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Sandbox.Resources.Limits = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
				corev1.ResourceEphemeralStorage: resource.MustParse(storage),
			}
		}
	}
	begin := func(ctx context.Context, change ...func(*v1alpha1.MCPServerAudit)) {
		GinkgoHelper()
		runs = bounded(ctx)
		b = newBench(ctx, change...)
		b.Options.RunNamespace = runs
		b.reconcile(ctx)
	}
	pods := func(ctx context.Context) []corev1.Pod {
		GinkgoHelper()
		var list corev1.PodList
		Expect(api.List(ctx, &list, client.InNamespace(runs))).To(Succeed())
		return list.Items
	}

	It("has room for audits with the default limits, as many as it says", func(ctx SpecContext) {
		begin(ctx)
		Expect(pods(ctx)).To(HaveLen(1), message(b.audit(ctx), "Auditing"))
		first := pods(ctx)[0]
		another := func() error {
			return api.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-", Namespace: runs, Labels: first.Labels}, Spec: first.Spec})
		}
		for range 19 {
			Eventually(another).WithContext(ctx).Should(Succeed()) // the quota's own conflicts
		}
		err := another()
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("exceeded quota")))
	})

	It("has room for an audit with the highest limits", func(ctx SpecContext) {
		begin(ctx, limits("4", "4Gi", "8Gi"))
		Expect(pods(ctx)).To(HaveLen(1), message(b.audit(ctx), "Auditing"))
	})

	It("has room for a server that runs elsewhere", func(ctx SpecContext) {
		begin(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server = v1alpha1.Server{URL: "https://mcp.example.com/mcp"} })
		Expect(pods(ctx)).To(HaveLen(1), message(b.audit(ctx), "Auditing"))
	})

	It("refuses more than that, and the audit says so", func(ctx SpecContext) {
		begin(ctx, limits("1", "5Gi", "1Gi"))
		Expect(pods(ctx)).To(BeEmpty())
		Expect(message(b.audit(ctx), "Auditing")).To(And(ContainSubstring("maximum memory usage per Container is 4Gi"), ContainSubstring("ask for less by spec.sandbox.resources")))
	})

	It("bounds the Pods of others", func(ctx SpecContext) {
		runs = bounded(ctx)
		stranger := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "stranger-", Namespace: runs},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
		}
		Expect(api.Create(ctx, stranger)).To(Succeed())
		Expect(stranger.Spec.Containers[0].Resources.Limits).To(And(HaveKey(corev1.ResourceCPU), HaveKey(corev1.ResourceMemory), HaveKey(corev1.ResourceEphemeralStorage)))
	})
})

var _ = Describe("Where an audit runs", func() {
	It("is a node for the platform of the image", func(ctx SpecContext) {
		b := newBench(ctx)
		b.images.image.Platform = "linux/arm64"
		b.reconcile(ctx)
		Expect(b.pod(ctx).Spec.NodeSelector).To(Equal(map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: "arm64"}))
	})

	It("is what the templates say, and no user namespace where no node has one", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Sandbox.PodTemplate = &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"kueue.x-k8s.io/queue-name": "audits"}}}
		})
		b.Options.PodTemplate = &v1alpha1.PodTemplate{Spec: v1alpha1.PodTemplateSpec{Tolerations: []corev1.Toleration{{Key: "audits", Operator: corev1.TolerationOpExists}}}}
		b.reconcile(ctx)
		pod := b.pod(ctx)
		Expect(pod.Labels).To(HaveKeyWithValue("kueue.x-k8s.io/queue-name", "audits"))
		Expect(pod.Spec.Tolerations).To(ContainElement(HaveField("Key", "audits")))
		Expect(pod.Spec.HostUsers).To(BeNil())
	})

	It("is a user namespace of its own where every node has them", func(ctx SpecContext) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
		Expect(api.Create(ctx, node)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, node)).To(Succeed()) })
		has := &corev1.NodeRuntimeHandlerFeatures{UserNamespaces: new(true)}
		node.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Features: has}, {Name: "gvisor"}}
		Expect(api.Status().Update(ctx, node)).To(Succeed())
		for _, test := range []struct {
			mode         options.UserNamespaces
			runtimeClass string
			want         OmegaMatcher
		}{
			{options.UserNamespacesAuto, "", HaveValue(BeFalse())},
			{options.UserNamespacesAuto, "gvisor", BeNil()},
			{options.UserNamespacesAlways, "gvisor", HaveValue(BeFalse())},
			{options.UserNamespacesNever, "", BeNil()},
		} {
			b := newBench(ctx)
			b.Options.UserNamespaces, b.Options.RuntimeClass = test.mode, test.runtimeClass
			var created *corev1.Pod
			b.Client = b.intercept(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
					if pod, ok := object.(*corev1.Pod); ok {
						created = pod
					}
					return c.Create(ctx, object, opts...)
				},
			})
			b.reconcile(ctx)
			Expect(created).NotTo(BeNil())
			Expect(created.Spec.HostUsers).To(test.want, "%s with RuntimeClass %q", test.mode, test.runtimeClass)
		}
	})

	It("is not chosen by what is an order to somebody", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Sandbox.PodTemplate = &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": "prod"}}}
		})
		b.reconcile(ctx)
		Expect(b.pods(ctx)).To(BeEmpty())
		Expect(b.audit(ctx)).To(And(haveCondition("Ready", "AuditInconclusive"), haveCondition("Audited", "SandboxFailed")))
		Expect(message(b.audit(ctx), "Audited")).To(ContainSubstring("metadata.annotations: k8s.v1.cni.cncf.io/networks is not among the allowedMetadata"))
	})

	It("is not decided by registries that are busy with others", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) { a.Spec.Server.Command = []string{"/notes"} })
		b.images.err = errors.Join(imageref.ErrBusy)
		Expect(b.reconcile(ctx).RequeueAfter).To(BeNumerically(">", 0))
		Expect(b.pods(ctx)).To(BeEmpty(), "the image is not run by its tag because of others")
		b.images.err = nil
		b.reconcile(ctx)
		Expect(b.pod(ctx).Spec.Containers[0].Image).To(HaveSuffix("@" + sha("a")))
	})
})
