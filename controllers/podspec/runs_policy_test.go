//go:build envtest

package podspec_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// goldenRunner is the runner's image of the golden Pods.
const goldenRunner = "registry.example/runner:v1"

// TestS15RunNamespace: the policy mcpaudit-runs admits the Pods that Build makes, and none
// that reaches further, whoever creates it.
func TestS15RunNamespace(t *testing.T) {
	api := testenv.Start(t).Client
	ctx := t.Context()
	must(t, api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mcpaudit-runs"}}))
	must(t, api.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-runs", Name: "default"}}))
	must(t, api.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-runs", Name: "mcpaudit-runner"}, Data: map[string]string{"runner": goldenRunner},
	}))
	for _, object := range read(t, "../../config/policy/runs.yaml") {
		must(t, api.Create(ctx, object))
	}
	hostNetwork := goldenPod(t, "everything")
	hostNetwork.Spec.HostNetwork = true
	must(t, wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsForbidden(create(ctx, api, hostNetwork)), nil // the policy is new
	}))

	for _, file := range goldenNames(t) {
		t.Run("admitted/"+file, func(t *testing.T) {
			if err := create(t.Context(), api, goldenPod(t, file)); err != nil {
				t.Error(err)
			}
		})
	}
	for name, c := range refused() {
		t.Run("refused/"+name, func(t *testing.T) {
			pod := goldenPod(t, "everything")
			c.change(pod)
			if err := create(t.Context(), api, pod); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a denial that says %q", err, c.says)
			}
		})
	}
	t.Run("a Pod that is there", func(t *testing.T) { changes(t, api) })
	t.Run("without the ConfigMap", func(t *testing.T) {
		must(t, api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-runs", Name: "mcpaudit-runner"}}))
		must(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			return create(ctx, api, goldenPod(t, "minimal")) != nil, nil
		}))
	})
}

// changes makes a Pod and tries to turn it into something else.
func changes(t *testing.T, api client.Client) {
	pod := goldenPod(t, "minimal")
	must(t, api.Create(t.Context(), pod))
	image := pod.DeepCopy()
	for i := range image.Spec.Containers {
		image.Spec.Containers[i].Image = "registry.example/other:1"
	}
	if err := api.Update(t.Context(), image); !apierrors.IsForbidden(err) {
		t.Errorf("another image of the runner: %v", err)
	}
	debug := pod.DeepCopy()
	debug.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: goldenRunner, TerminationMessagePolicy: corev1.TerminationMessageReadFile, ImagePullPolicy: corev1.PullAlways,
		SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
	}}}
	if err := api.SubResource("ephemeralcontainers").Update(t.Context(), debug); !apierrors.IsForbidden(err) {
		t.Errorf("an ephemeral container: %v", err)
	}
	pod.Labels["a"] = "b"
	if err := api.Update(t.Context(), pod); err != nil {
		t.Errorf("a label: %v", err)
	}
}

type refusal struct {
	change func(*corev1.Pod)
	says   string
}

// refused are Pods that get further than an audit.
func refused() map[string]refusal {
	all := map[string]refusal{}
	spec := func(name, says string, change func(*corev1.PodSpec)) {
		all[name] = refusal{func(p *corev1.Pod) { change(&p.Spec) }, says}
	}
	container := func(name, of, says string, change func(*corev1.Container)) {
		spec(name+" of "+of, says, func(s *corev1.PodSpec) {
			for _, containers := range [][]corev1.Container{s.Containers, s.InitContainers} {
				for i := range containers {
					if containers[i].Name == of {
						change(&containers[i])
					}
				}
			}
		})
	}
	spec("hostNetwork", "hostNetwork", func(s *corev1.PodSpec) { s.HostNetwork = true })
	spec("hostPID", "hostPID", func(s *corev1.PodSpec) { s.HostPID, s.ShareProcessNamespace = true, nil })
	spec("hostIPC", "hostIPC", func(s *corev1.PodSpec) { s.HostIPC = true })
	spec("nodeName", "nodeName", func(s *corev1.PodSpec) { s.NodeName = "control-plane" })
	spec("token", "automountServiceAccountToken", func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = new(true) })
	spec("token by default", "automountServiceAccountToken", func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = nil })
	spec("seccomp Unconfined", "seccomp", func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined })
	spec("no seccomp", "seccomp", func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile = nil })
	spec("AppArmor Unconfined", "AppArmor", func(s *corev1.PodSpec) {
		s.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	})
	spec("SELinux", "seLinuxOptions", func(s *corev1.PodSpec) { s.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"} })
	spec("sysctl", "sysctl", func(s *corev1.PodSpec) {
		s.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.shm_rmid_forced", Value: "1"}}
	})
	spec("another container", "server, runner", func(s *corev1.PodSpec) {
		more := *s.Containers[0].DeepCopy()
		more.Name = "more"
		s.Containers = append(s.Containers, more)
	})
	spec("another init container", "server, runner", func(s *corev1.PodSpec) {
		more := *s.InitContainers[0].DeepCopy()
		more.Name = "runner-2"
		s.InitContainers = append(s.InitContainers, more)
	})
	spec("resource claim", "resourceClaims", func(s *corev1.PodSpec) {
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
	})
	for name, source := range map[string]corev1.VolumeSource{
		"hostPath":  {HostPath: &corev1.HostPathVolumeSource{Path: "/"}},
		"Secret":    {Secret: &corev1.SecretVolumeSource{SecretName: "other-pull-0"}},
		"projected": {Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}}}},
	} {
		spec("volume "+name, "emptyDirs", func(s *corev1.PodSpec) { s.Volumes[0].VolumeSource, s.ServiceAccountName = source, "default" })
	}
	all["AppArmor by an annotation"] = refusal{func(p *corev1.Pod) {
		p.Annotations["container.apparmor.security.beta.kubernetes.io/server"] = "unconfined"
	}, "AppArmor"}
	for _, of := range []string{"server", "runner", "install"} {
		container("privileged", of, "privileged", func(c *corev1.Container) {
			c.SecurityContext.Privileged, c.SecurityContext.AllowPrivilegeEscalation = new(true), nil
		})
		container("escalation", of, "allowPrivilegeEscalation", func(c *corev1.Container) { c.SecurityContext.AllowPrivilegeEscalation = nil })
		container("SYS_ADMIN", of, "capabilities", func(c *corev1.Container) {
			c.SecurityContext.Capabilities.Add = append(c.SecurityContext.Capabilities.Add, "SYS_ADMIN")
		})
		container("no drop", of, "capabilities", func(c *corev1.Container) { c.SecurityContext.Capabilities.Drop = nil })
		container("host port", of, "host ports", func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		})
		container("U14 another file for its last words", of, "terminationMessagePath", func(c *corev1.Container) { c.TerminationMessagePath = "/tmp/plan" })
		container("seccomp", of, "seccomp", func(c *corev1.Container) {
			c.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
		})
	}
	container("SYS_PTRACE", "server", "capabilities", func(c *corev1.Container) { c.SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"} })
	container("NET_ADMIN", "runner", "capabilities", func(c *corev1.Container) { c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN"} })
	container("another image", "runner", goldenRunner, func(c *corev1.Container) { c.Image = "registry.example/runner:v2" })
	container("another image", "install", goldenRunner, func(c *corev1.Container) { c.Image = "registry.example/runner:v1@sha256:" + strings.Repeat("0", 64) })
	container("a shell", "runner", "/mcpaudit-runner", func(c *corev1.Container) { c.Command = []string{"/bin/sh"} })
	for _, of := range []string{"runner", "install"} { // R8: another program by the name of ours
		mount := func(name string, m corev1.VolumeMount) {
			m.Name = "shim"
			container(name, of, "mount volumes", func(c *corev1.Container) { c.VolumeMounts = append(c.VolumeMounts, m) })
		}
		mount("R8 a mount over the program", corev1.VolumeMount{MountPath: "/mcpaudit-runner", SubPath: "tini"})
		mount("R8 a mount over a directory", corev1.VolumeMount{MountPath: "/usr/bin"})
		mount("R8 a mount by another way", corev1.VolumeMount{MountPath: "/opt/runtime/../../usr/bin"})
		mount("R8 a part of a volume", corev1.VolumeMount{MountPath: "/opt/runtime/x", SubPath: "x"})
		container("R8 a library", of, "MCPAUDIT_PLAN", func(c *corev1.Container) {
			c.Env = append(c.Env, corev1.EnvVar{Name: "LD_PRELOAD", Value: "/tmp/x.so"})
		})
	}
	container("R8 a hook", "runner", "hooks", func(c *corev1.Container) {
		c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/tmp/x"}}}}
	})
	container("R8 a probe of another host", "server", "probes", func(c *corev1.Container) {
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)}}}
	})
	container("its entrypoint", "install", "/mcpaudit-runner", func(c *corev1.Container) { c.Command = nil })
	return all
}

// create is a dry run: the policy answers as it would.
func create(ctx context.Context, api client.Client, pod *corev1.Pod) error {
	return api.Create(ctx, pod.DeepCopy(), client.DryRunAll)
}

func goldenNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d golden Pods: %v", len(files), err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return files
}

func goldenPod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	must(t, err)
	pod := &corev1.Pod{}
	must(t, yaml.Unmarshal(content, pod))
	return pod
}

func read(t *testing.T, path string) []client.Object {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	var all []client.Object
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, object)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
