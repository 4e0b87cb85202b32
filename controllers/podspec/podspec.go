// Package podspec builds the audit Pod: pure, and the manager's half of the
// contract with cmd/runner.
//
// The Pod of a server that is run from its image has three containers, which share one PID
// namespace and one network namespace:
//
//	install  (init, runner image) copies the shim into a volume and closes the
//	         network namespace: every address becomes local.
//	server   (the audited image, by digest) the shim is its entrypoint. It hands
//	         its stdio to the runner, waits until the tracer has attached, then
//	         executes the real command. It has no capability at all.
//	runner   (runner image) traces, exercises the server, judges, prints the
//	         framed report and leaves its summary as the termination message. It
//	         drops root itself and keeps SYS_PTRACE and DAC_READ_SEARCH.
//
// It holds no token and has no way out: results leave through the kubelet.
//
// For a server that runs elsewhere (spec.server.url) the runner is alone, with no
// capability at all, and with the network (remote.go).
package podspec

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The names of the containers.
const (
	ContainerInstall = "install"
	ContainerServer  = "server"
	ContainerRunner  = "runner"
)

// gracePeriod is the termination grace period in seconds: nothing in the Pod is
// worth waiting for once it is deleted.
const gracePeriod = 5

// Input is all that a Pod depends on.
type Input struct {
	Audit *v1alpha1.MCPServerAudit
	Run   Run
	// Image is the one that the server's container runs: a reference by digest,
	// or the image as given if no registry knows it.
	Image string
	// Command is the whole command line of the server.
	Command []string
	// NodeImage says that no registry gave Image to the audit's credentials: the kubelet
	// may run what the node has. Any other image is pulled anew.
	NodeImage bool
	// PullSecrets are names of Secrets in the run namespace, RunnerPullSecrets those that
	// the runner's image is pulled with. The kubelet tries all of them for every image of
	// the Pod, which is why the server's has to be resolved with the audit's own.
	PullSecrets       []string
	RunnerPullSecrets []corev1.LocalObjectReference

	Namespace   string
	RunnerImage string
	// ServerLimits apply where the spec sets none.
	ServerLimits corev1.ResourceList
	// Margin is the time that the Pod has beyond the timeout of the audit.
	Margin time.Duration

	// Platform of the image, such as "linux/arm64", chooses among the nodes; empty
	// if nobody but the kubelet knows the image.
	Platform string
	// RuntimeClass applies where the spec names none.
	RuntimeClass string
	// UserNamespace gives the Pod a user namespace of its own.
	UserNamespace bool
	// Template is the operator's, under that of the spec; AllowedMetadata are the
	// keys that the latter may use, see KeyAllowed.
	Template        *v1alpha1.PodTemplate
	AllowedMetadata []string

	// APIServers are addresses of the API server that the runner of a URL refuses.
	APIServers []netip.Addr
}

// Build makes the Pod. The error is ErrTooLarge if spec.probe has too many, and
// ErrTemplate if spec.sandbox.podTemplate asks for what it may not choose.
func Build(in Input) (*corev1.Pod, error) {
	record, err := json.Marshal(in.Run)
	if err != nil {
		return nil, fmt.Errorf("encode record of run: %w", err)
	}
	encoded, err := encodePlan(in)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: in.Run.Name, Namespace: in.Namespace,
			Labels: Labels(in.Audit), Annotations: map[string]string{annotationRun: string(record)},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:         new(int64((in.Audit.Spec.Timeout.Duration + in.Margin) / time.Second)),
			TerminationGracePeriodSeconds: new(int64(gracePeriod)),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			SecurityContext: &corev1.PodSecurityContext{
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		},
	}
	pod.Labels[LabelRun] = in.Run.Name
	maps.Copy(pod.Labels, meshLabels)
	maps.Copy(pod.Annotations, meshAnnotations)
	pod.Spec.NodeSelector = nodesFor(in.Platform)
	if name := cmp.Or(in.Audit.Spec.Sandbox.RuntimeClassName, in.RuntimeClass); name != "" {
		pod.Spec.RuntimeClassName = &name
	}
	if in.UserNamespace {
		pod.Spec.HostUsers = new(false)
	}
	if in.Audit.Spec.Server.URL != "" {
		remote(pod, in, encoded)
	} else {
		sandbox(pod, in, encoded)
	}
	pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, in.RunnerPullSecrets...)
	template := in.Audit.Spec.Sandbox.PodTemplate
	if err := CheckTemplate(template, in.AllowedMetadata); err != nil {
		return nil, err
	}
	if err := overlay(pod, in.Template, template); err != nil {
		return nil, err
	}
	return pod, nil
}

// nodesFor selects the nodes that can run the image: a multi-platform cluster has
// others as well.
func nodesFor(platform string) map[string]string {
	os, architecture, _ := strings.Cut(platform, "/")
	if os == "" || architecture == "" {
		return nil
	}
	architecture, _, _ = strings.Cut(architecture, "/") // without the variant
	return map[string]string{corev1.LabelOSStable: os, corev1.LabelArchStable: architecture}
}

// Platform is the one that the nodes of a Pod were selected for; empty if any would do.
func Platform(pod *corev1.Pod) string {
	os, architecture := pod.Spec.NodeSelector[corev1.LabelOSStable], pod.Spec.NodeSelector[corev1.LabelArchStable]
	if os == "" || architecture == "" {
		return ""
	}
	return os + "/" + architecture
}

// sandbox is for a server that is run, and traced.
func sandbox(pod *corev1.Pod, in Input, encoded string) {
	pod.Spec.ShareProcessNamespace = new(true)
	pod.Spec.Hostname = hostOf(in.Image, in.Run.Name)
	pod.Spec.InitContainers = []corev1.Container{installContainer(in)}
	pod.Spec.Containers = []corev1.Container{serverContainer(in), runnerContainer(in, encoded)}
	pod.Spec.Volumes = emptyDirs(shimVolume, runVolume, homeVolume, accountVolume, traceVolume, tmpVolume)
	if network(in.Audit) == v1alpha1.NetworkSinkhole || in.Audit.Spec.Server.Port > 0 {
		// The runner answers on every port, and the server listens on one, without a
		// capability for the low ones. The kubelet counts this sysctl among the safe ones.
		pod.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}
	}
	if network(in.Audit) == v1alpha1.NetworkAllow {
		pod.Labels[LabelNetwork] = NetworkAllow
	}
	for _, name := range in.PullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
}

// hostOf is the host name that the server sees: like a Deployment's Pod, as the audit Pod's own name gives the audit away.
func hostOf(image, run string) string {
	repository, _, _ := strings.Cut(path.Base(image), "@")
	repository, _, _ = strings.Cut(repository, ":")
	// Nobody but the kubelet may know whether it is the name of an image at all.
	app := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(repository)), "-")
	key := sha256.Sum256([]byte(run))
	suffix := utilrand.SafeEncodeString(hex.EncodeToString(key[:]))
	return fmt.Sprintf("%.40s-%s-%s", cmp.Or(app, "server"), suffix[:9], suffix[9:14])
}

// A service mesh's proxy would be traced along with the server, would keep the
// Pod running for ever, and could not reach anything anyway.
var (
	meshLabels = map[string]string{
		"sidecar.istio.io/inject":   "false",
		"istio.io/dataplane-mode":   "none",
		"kuma.io/sidecar-injection": "disabled",
	}
	meshAnnotations = map[string]string{
		"sidecar.istio.io/inject":             "false",
		"linkerd.io/inject":                   "disabled",
		"consul.hashicorp.com/connect-inject": "false",
		// An audit is short; moving the Pod only means beginning anew.
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	}
)
