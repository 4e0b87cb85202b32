package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// remoteUser is who the runner is where it traces nothing.
const remoteUser = 65532

// remote is for a server that runs elsewhere: there is nothing to trace, so the
// runner gets no right but to the network. Whoever may create an audit chooses
// where it connects to, and reads what is answered: the runner refuses the
// addresses that are nobody's business (cmd/runner), and the network policy of the
// run namespace all that a cluster wants refused besides.
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

// HasServer reports whether the Pod runs the server, so that there is a container
// and an image of it.
func HasServer(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == ContainerServer })
}
