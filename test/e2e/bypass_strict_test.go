//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// altered are containers that are started as their image was audited and can run other
// code, by what the gate says of them.
func altered(image string) map[string]*corev1.Pod {
	with := func(change func(*corev1.Container)) *corev1.Pod {
		return pod(image, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "code", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			change(&p.Spec.Containers[0])
		})
	}
	mounted := func(path string) *corev1.Pod {
		return with(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "code", MountPath: path}} })
	}
	command := &corev1.ExecAction{Command: []string{"steal"}}
	return map[string]*corev1.Pod{
		"but sets NODE_OPTIONS":                          setting(image, "NODE_OPTIONS", "--import=/tmp/steal.js"),
		"but sets LD_PRELOAD":                            setting(image, "LD_PRELOAD", "/tmp/steal.so"),
		"but mounts a volume at /server":                 mounted("/server"),
		"but mounts a volume at /usr/lib":                mounted("/usr/lib"),
		"but is run in the working directory /elsewhere": with(func(c *corev1.Container) { c.WorkingDir = "/elsewhere" }),
		"lifecycle.postStart": with(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: command}}
		}),
		"livenessProbe": with(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: command}}
		}),
		"but has an envFrom": with(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
		}),
	}
}

var _ = Describe("Code added to an image that passed", func() {
	It("S16: is denied by a strict policy, and by no other", func(ctx context.Context) {
		policy := gate(ctx)
		honest := byDigest(reviewed(ctx).honest)
		for _, p := range altered(honest) {
			awaitAdmitted(ctx, p)
		}
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Gate.OnAltered = v1alpha1.ActionDeny })
		for sentence, p := range altered(honest) {
			awaitDeniedAs(ctx, p, sentence)
		}
		awaitAdmitted(ctx, pod(honest))
		awaitAdmitted(ctx, setting(honest, "NOTES_DESCRIPTION", "Formats a note."))
		awaitAdmitted(ctx, pod(honest, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		}))
	})

	It("S16: is not made up for by an audit that hardly exercised its server", func(ctx context.Context) {
		policy := gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Trust = trusting(namespace) })
		little := settled(ctx, newAudit(variant(ctx, "honest-go:dev", "little"), inFull, func(a *v1alpha1.MCPServerAudit) { a.Spec.Probe.Rounds = 1 }))
		expectPass(little)
		awaitAdmitted(ctx, pod(byDigest(little)))
		setPolicy(ctx, policy, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Gate.OnAltered = v1alpha1.ActionDeny })
		awaitDeniedAs(ctx, pod(byDigest(little)), "exercised it less than by default: its probe.rounds was 1, not 3")
	})
})
