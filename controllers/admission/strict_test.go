//go:build envtest

package admission_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// strict has the policy deny what is altered.
func (w world) strict(ctx context.Context) {
	GinkgoHelper()
	policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: w.named("default")}
	Expect(api.Patch(ctx, policy, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"gate":{"onAltered":"Deny"}}}`)))).To(Succeed())
	altered := w.pod(honest)
	altered.Spec.Containers[0].WorkingDir = "/elsewhere"
	testenv.Eventually(ctx, func(g Gomega) {
		g.Expect(api.Create(ctx, altered.DeepCopy(), client.DryRunAll)).To(MatchError(ContainSubstring("run in the working directory /elsewhere")))
	})
}

var _ = Describe("S16: the strict mode", func() {
	mounted := func(pod *corev1.PodSpec, path string) {
		pod.Volumes = []corev1.Volume{{Name: "files", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "files", MountPath: path}}
	}
	It("denies what adds code to an image that passed, and nothing else", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		before := w.deployment("before", honest)
		mounted(&before.Spec.Template.Spec, "/app/plugins")
		Expect(api.Create(ctx, before)).To(Succeed(), "without onAltered")
		w.strict(ctx)

		By("admitting an ordinary workload, with the mount that the API server adds for the token")
		plain := w.deployment("plain", honest)
		mounted(&plain.Spec.Template.Spec, "/data")
		plain.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"}}
		Expect(api.Create(ctx, plain)).To(Succeed())
		pod := w.pod(honest)
		mounted(&pod.Spec, "/var/run/secrets/kubernetes.io/serviceaccount")
		Expect(api.Create(ctx, pod)).To(Succeed())

		By("denying each alteration, also when an update brings it in")
		for sentence, alter := range map[string]func(*corev1.PodSpec){
			"but sets NODE_OPTIONS": func(p *corev1.PodSpec) {
				p.Containers[0].Env = []corev1.EnvVar{{Name: "NODE_OPTIONS", Value: "--require /x"}}
			},
			"but has an envFrom": func(p *corev1.PodSpec) {
				p.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
			},
			"but mounts a volume at /app/plugins": func(p *corev1.PodSpec) { mounted(p, "/app/plugins") },
			"but has a lifecycle.postStart.exec": func(p *corev1.PodSpec) {
				p.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}}
			},
			"but has a livenessProbe.exec": func(p *corev1.PodSpec) {
				p.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}}
			},
			"but is run in the working directory /x": func(p *corev1.PodSpec) { p.Containers[0].WorkingDir = "/x" },
		} {
			created, updated := w.pod(honest), plain.DeepCopy()
			alter(&created.Spec)
			alter(&updated.Spec.Template.Spec)
			Expect(api.Create(ctx, created)).To(MatchError(ContainSubstring(sentence)))
			Expect(api.Update(ctx, updated)).To(MatchError(ContainSubstring(sentence)))
		}

		By("leaving alone what runs unchanged")
		Expect(api.Patch(ctx, before, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":1}}`)))).To(Succeed())
	})

	It("refuses an action that there is none of", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: w.named("odd"), Spec: v1alpha1.MCPAuditPolicySpec{Gate: v1alpha1.Gate{OnAltered: "Strict"}}}
		Expect(api.Create(ctx, policy)).To(MatchError(ContainSubstring("spec.gate.onAltered: Unsupported value")))
		policy.Spec.Gate.OnAltered = ""
		Expect(api.Create(ctx, policy)).To(Succeed())
		Expect(policy.Spec.Gate.OnAltered).To(Equal(v1alpha1.ActionAllow))
	})
})
