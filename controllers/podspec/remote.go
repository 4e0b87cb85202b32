package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// remoteUser is the runner's uid when it does not trace.
const remoteUser = 65532

// remote configures the Pod of a remote server: nothing is traced, so the runner has only
// network access. Audit authors choose the URL and read the responses, so the runner refuses
// forbidden addresses (cmd/runner), and the run namespace's NetworkPolicies any others that the
// cluster protects.
func remote(pod *corev1.Pod, in Input, encoded string) {
	pod.Labels[LabelNetwork] = NetworkRemote
	pod.Spec.Volumes = emptyDirs(tmpVolume)
	runner := runnerContainer(in, encoded)
	runner.Command = []string{runnerBinary, "connect"}
	runner.VolumeMounts = []corev1.VolumeMount{tmpVolume.mount()}
	runner.SecurityContext = runnerSecurity()
	runner.SecurityContext.RunAsUser, runner.SecurityContext.RunAsGroup = new(int64(remoteUser)), new(int64(remoteUser))
	runner.SecurityContext.RunAsNonRoot = new(true)
	pod.Spec.Containers = []corev1.Container{runner}
}

// HasServer reports whether the Pod has the server's container.
func HasServer(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == ContainerServer })
}
