package podspec

import (
	"cmp"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Paths and names shared with cmd/runner. The server sees them, so none mentions this project,
// and none collides with paths in its image.
const (
	runnerBinary = "/mcpaudit-runner"
	ownDir       = "/opt/runtime"
	binDir       = ownDir + "/bin"
	shimBinary   = binDir + "/tini"
	runDir       = ownDir + "/run"
	socket       = runDir + "/runner.sock"
	homeDir      = "/home/ellis"
	accountDir   = ownDir + "/serviceaccount"
	traceDir     = ownDir + "/trace"
)

// volume is an emptyDir. Exceeding its size limit evicts the Pod instead of filling the node's
// disk.
type volume struct{ name, path, size string }

var (
	shimVolume  = volume{"shim", binDir, "128Mi"}
	runVolume   = volume{"run", runDir, "1Mi"}
	homeVolume  = volume{"home", homeDir, "256Mi"}
	traceVolume = volume{"trace", traceDir, "1Gi"}
	tmpVolume   = volume{"tmp", "/tmp", "64Mi"}
	// accountVolume has a decoy token in place of the service account token, which the Pod
	// lacks.
	accountVolume = volume{"serviceaccount", accountDir, "1Mi"}
)

// accountPath is the usual path of that token.
const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

func emptyDirs(volumes ...volume) []corev1.Volume {
	var all []corev1.Volume
	for _, v := range volumes {
		all = append(all, corev1.Volume{Name: v.name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse(v.size))},
		}})
	}
	return all
}

func (v volume) mount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: v.name, MountPath: v.path}
}

func (v volume) readOnly() corev1.VolumeMount {
	return corev1.VolumeMount{Name: v.name, MountPath: v.path, ReadOnly: true}
}

func installContainer(in Input) corev1.Container {
	return corev1.Container{
		Name: ContainerInstall, Image: in.RunnerImage, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{runnerBinary, "install", "--bin", binDir, "--network", string(network(in.Audit))},
		SecurityContext: runnerSecurity("NET_ADMIN"), // to install the routes that close the network namespace
		Resources: resources("10m", "32Mi", corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("256Mi"),
		}),
		VolumeMounts: []corev1.VolumeMount{shimVolume.mount()},
		// Its last output is the reason of a failure.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func serverContainer(in Input) corev1.Container {
	server := in.Audit.Spec.Server
	limits := in.ServerLimits.DeepCopy()
	maps.Copy(limits, in.Audit.Spec.Sandbox.Resources.Limits)
	env := make([]corev1.EnvVar, 0, len(server.Env)+1)
	for _, variable := range server.Env {
		env = append(env, corev1.EnvVar{Name: variable.Name, Value: verbatim(variable.Value)})
	}
	var ports []corev1.ContainerPort
	if server.Port != 0 {
		// Informational only: the runner connects over the shared loopback.
		ports = []corev1.ContainerPort{{Name: "mcp", ContainerPort: server.Port, Protocol: corev1.ProtocolTCP}}
	}
	// Always makes the kubelet check with the registry even for images on the node.
	pull := corev1.PullAlways
	if in.NodeImage {
		pull = corev1.PullIfNotPresent
	}
	return corev1.Container{
		Name: ContainerServer, Image: in.Image, ImagePullPolicy: pull,
		Command:    []string{shimBinary, "shim", "--socket", socket, "--"},
		Args:       verbatimAll(in.Command),
		WorkingDir: server.WorkingDir,
		Ports:      ports,
		Env:        env, // the shim sets HOME, once it has seen that of the image
		SecurityContext: &corev1.SecurityContext{
			Privileged:               new(false),
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		Resources: resources("100m", "64Mi", limits),
		VolumeMounts: []corev1.VolumeMount{shimVolume.readOnly(), runVolume.readOnly(), homeVolume.mount(),
			{Name: accountVolume.name, MountPath: accountPath, ReadOnly: true}},
	}
}

func runnerContainer(in Input, encoded string) corev1.Container {
	return corev1.Container{
		Name: ContainerRunner, Image: in.RunnerImage, ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{runnerBinary, "audit", "--socket", socket, "--home", homeDir, "--service-account", accountDir, "--trace", traceDir},
		Env:     []corev1.EnvVar{{Name: plan.Variable, Value: verbatim(encoded)}},
		// SETUID and SETGID only serve to become uid 61713, which no server has; file
		// capabilities are void under no_new_privs.
		SecurityContext: runnerSecurity("SYS_PTRACE", "DAC_READ_SEARCH", "SETUID", "SETGID"),
		Resources: resources("100m", "128Mi", corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi"),
			// The kubelet limits the Pod to the sum of the containers' limits, which must
			// include the volumes.
			corev1.ResourceEphemeralStorage: resource.MustParse("2Gi"),
		}),
		VolumeMounts:           []corev1.VolumeMount{runVolume.mount(), homeVolume.mount(), accountVolume.mount(), traceVolume.mount(), tmpVolume.mount()},
		TerminationMessagePath: corev1.TerminationMessagePathDefault,
		// A successful runner writes the message; for a crash its last output is the reason.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// network returns the mode of an audit, including one stored before the field existed.
func network(audit *v1alpha1.MCPServerAudit) report.Network {
	return cmp.Or(audit.Spec.Sandbox.Network, report.NetworkSinkhole)
}

// runnerSecurity is for containers of our own image, with only the given capabilities. They run
// as root, as only root gets capabilities under no_new_privs.
func runnerSecurity(capabilities ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsUser: new(int64(0)), RunAsGroup: new(int64(0)),
		Privileged:               new(false),
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
	}
}

// resources requests little, as audits are short and mostly wait. A request never exceeds its
// limit.
func resources(cpu, memory string, limits corev1.ResourceList) corev1.ResourceRequirements {
	requests := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
	for name, request := range requests {
		if limit, ok := limits[name]; ok && limit.Cmp(request) < 0 {
			requests[name] = limit
		}
	}
	return corev1.ResourceRequirements{Requests: requests, Limits: limits}
}

// verbatim keeps the kubelet from expanding $(NAME) and $$ in a text.
func verbatim(s string) string { return strings.ReplaceAll(s, "$", "$$") }

func verbatimAll(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = verbatim(s)
	}
	return all
}
