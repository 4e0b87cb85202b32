// Package podspec builds the audit Pod. It is pure, and the manager's half of the contract with
// cmd/runner.
//
// For a server that is run from its image the Pod has three containers, which share a PID
// namespace and a network namespace:
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
// It has no token and no network access: results leave through the kubelet.
//
// For a remote server (spec.server.url) only the runner runs, without capabilities but with
// network access (remote.go).
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

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The names of the containers.
const (
	ContainerInstall = "install"
	ContainerServer  = "server"
	ContainerRunner  = "runner"
)

// gracePeriod is the termination grace period in seconds: a deleted Pod has nothing worth
// waiting for.
const gracePeriod = 5

// Input is everything that a Pod depends on.
type Input struct {
	Audit *v1alpha1.MCPServerAudit
	Run   Run
	// Image is the server's: a reference by digest, or as given if no registry could resolve
	// it.
	Image string
	// Command is the whole command line of the server.
	Command []string
	// NodeImage means that no registry returned Image for the audit's credentials: the kubelet
	// may use the node's copy. Other images are always pulled.
	NodeImage bool
	// PullSecrets are Secrets in the run namespace, RunnerPullSecrets those for the runner's
	// image. The kubelet tries all of them for every image of the Pod, so the server's image
	// must be resolved with the audit's own first.
	PullSecrets       []string
	RunnerPullSecrets []corev1.LocalObjectReference

	Namespace   string
	RunnerImage string
	// ServerLimits are the defaults if the spec sets none.
	ServerLimits corev1.ResourceList
	// Margin is the Pod's time beyond the audit's timeout.
	Margin time.Duration

	// Platform of the image, such as "linux/arm64", selects nodes; empty if unknown.
	Platform string
	// RuntimeClass is the default if the spec names none.
	RuntimeClass string
	// UserNamespace gives the Pod a user namespace of its own.
	UserNamespace bool
	// Template is the operator's, overridden by the spec's; AllowedMetadata are the keys that
	// the spec's may use, see KeyAllowed.
	Template        *v1alpha1.PodTemplate
	AllowedMetadata []string

	// APIServers are the API server's addresses, which the runner of a URL must not connect to.
	APIServers []netip.Addr
}

// Build returns the Pod. The error is ErrTooLarge if spec.probe is too large, and ErrTemplate
// if spec.sandbox.podTemplate uses what it may not.
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

// nodesFor selects the nodes that can run the image in a multi-platform cluster.
func nodesFor(platform string) map[string]string {
	os, architecture, _ := strings.Cut(platform, "/")
	if os == "" || architecture == "" {
		return nil
	}
	architecture, _, _ = strings.Cut(architecture, "/") // without the variant
	return map[string]string{corev1.LabelOSStable: os, corev1.LabelArchStable: architecture}
}

// Platform returns the platform that a Pod's nodes were selected for; empty for any.
func Platform(pod *corev1.Pod) string {
	os, architecture := pod.Spec.NodeSelector[corev1.LabelOSStable], pod.Spec.NodeSelector[corev1.LabelArchStable]
	if os == "" || architecture == "" {
		return ""
	}
	return os + "/" + architecture
}

// sandbox configures the Pod of a server that is run and traced.
func sandbox(pod *corev1.Pod, in Input, encoded string) {
	pod.Spec.ShareProcessNamespace = new(true)
	pod.Spec.Hostname = hostOf(in.Image, in.Run.Name)
	pod.Spec.InitContainers = []corev1.Container{installContainer(in)}
	pod.Spec.Containers = []corev1.Container{serverContainer(in), runnerContainer(in, encoded)}
	pod.Spec.Volumes = emptyDirs(shimVolume, runVolume, homeVolume, accountVolume, traceVolume, tmpVolume)
	if network(in.Audit) == report.NetworkSinkhole || in.Audit.Spec.Server.Port > 0 {
		// The runner answers on every port, and the server listens on one, without the
		// capability for low ports. This is one of Kubernetes' safe sysctls.
		pod.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}
	}
	if network(in.Audit) == report.NetworkAllow {
		pod.Labels[LabelNetwork] = NetworkAllow
	}
	for _, name := range in.PullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
}

// hostOf returns the server's host name, which looks like a Deployment's Pod: the audit Pod's
// own name gives the audit away.
func hostOf(image, run string) string {
	repository, _, _ := strings.Cut(path.Base(image), "@")
	repository, _, _ = strings.Cut(repository, ":")
	// The image may not even be a valid name: only the kubelet knows it.
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

// A service mesh proxy would be traced with the server, would keep the Pod running, and could
// not reach anything.
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
		// An audit is short; moving the Pod only restarts it.
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	}
)
