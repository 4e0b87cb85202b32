package podspec_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/test/golden"
)

func newAudit() *v1alpha1.MCPServerAudit {
	return &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes", UID: "6d1b3c7e", Generation: 2},
		Spec: v1alpha1.MCPServerAuditSpec{
			Server: v1alpha1.Server{Image: "registry.example/notes:v1"},
			FailOn: "High", Timeout: metav1.Duration{Duration: 5 * time.Minute},
		},
	}
}

func newInput(audit *v1alpha1.MCPServerAudit) podspec.Input {
	digest := "sha256:" + strings.Repeat("0a", 32)
	return podspec.Input{
		Audit: audit,
		Run: podspec.Run{
			Name: podspec.Name(audit, ""), Audit: types.NamespacedName{Namespace: audit.Namespace, Name: audit.Name},
			Generation: audit.Generation, SpecDigest: v1alpha1.Digest(digest),
			Reason: v1alpha1.TriggerNeverAudited, Message: "the server has not been audited yet",
			ImageDigest: v1alpha1.Digest(digest), Audited: v1alpha1.AuditedServer{Digests: []v1alpha1.Digest{v1alpha1.Digest(digest)}},
		},
		Image: "registry.example/notes@" + digest, Command: []string{"node", "server.js"},
		Namespace: "mcpaudit-runs", RunnerImage: "registry.example/runner:v1",
		ServerLimits: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
		},
		Margin: 3 * time.Minute,
	}
}

func TestBuild(t *testing.T) {
	everything := newAudit()
	everything.Spec.FailOn = v1alpha1.FailOnNever
	everything.Spec.Server.Env = []v1alpha1.EnvVar{{Name: "PRICE", Value: "$(HOME) costs $5"}}
	everything.Spec.Server.WorkingDir = "/srv"
	everything.Spec.Sandbox.Network, everything.Spec.Sandbox.Tracer = report.NetworkAllow, plan.TracerPtrace
	everything.Spec.Sandbox.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}
	full := newInput(everything)
	full.Command = []string{"sh", "-c", "echo $$ $(HOME)"}
	full.PullSecrets = []string{"notes-pull-0", "notes-pull-1"}
	full.RunnerPullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}

	listening := newAudit()
	listening.Spec.Server.Transport, listening.Spec.Server.Port = report.TransportSSE, 8080
	listening.Spec.Probe = v1alpha1.Probe{
		Calls: report.CallsReadOnlyHinted, Rounds: 2, MaxCallsPerTool: 10, Seed: 7,
		CallTimeout: metav1.Duration{Duration: 20 * time.Second}, SkipTools: []string{"reset"},
		Inputs: []v1alpha1.ToolInput{{Tool: "open", Arguments: runtime.RawExtension{Raw: []byte(`{"project":"$HOME"}`)}}},
	}

	elsewhere := newAudit()
	elsewhere.Spec.Server = v1alpha1.Server{URL: "https://mcp.example.com/mcp"}
	far := newInput(elsewhere)
	far.APIServers = []netip.Addr{netip.MustParseAddr("10.96.0.1")}
	far.RunnerPullSecrets = full.RunnerPullSecrets
	far.Image, far.Command, far.Run.ImageDigest, far.Run.Audited = "", nil, "", v1alpha1.AuditedServer{}

	for name, in := range map[string]podspec.Input{
		"minimal": newInput(newAudit()), "everything": full, "listening": newInput(listening), "elsewhere": far,
	} {
		t.Run(name, func(t *testing.T) {
			pod := build(t, in)
			got, err := yaml.Marshal(pod)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".yaml")
			golden.Compare(t, file, got)
		})
	}
}

// TestBuildOpensLowPorts: many images listen on port 80 as somebody else than root.
func TestBuildOpensLowPorts(t *testing.T) {
	for _, mode := range []report.Network{report.NetworkSinkhole, report.NetworkDeny, report.NetworkAllow} {
		audit := newAudit()
		audit.Spec.Sandbox.Network = mode
		audit.Spec.Server.Transport, audit.Spec.Server.Port = report.TransportStreamableHTTP, 80
		pod, err := podspec.Build(newInput(audit))
		if err != nil {
			t.Fatal(err)
		}
		if len(pod.Spec.SecurityContext.Sysctls) != 1 {
			t.Errorf("network %s: the server may not listen on port 80", mode)
		}
	}
}

// TestBuildRefusesLargeInputs: the kernel would not start the runner with them.
func TestBuildRefusesLargeInputs(t *testing.T) {
	audit := newAudit()
	half := []byte(`{"text":"` + strings.Repeat("a", v1alpha1.MaxInputBytes/2-11) + `"}`)
	for _, tool := range []string{"a", "b"} {
		audit.Spec.Probe.Inputs = append(audit.Spec.Probe.Inputs, v1alpha1.ToolInput{Tool: tool, Arguments: runtime.RawExtension{Raw: half}})
	}
	if _, err := podspec.Build(newInput(audit)); err != nil {
		t.Errorf("Build with inputs of %d bytes: %v", v1alpha1.MaxInputBytes, err)
	}
	audit.Spec.Probe.Inputs = append(audit.Spec.Probe.Inputs, v1alpha1.ToolInput{Tool: "c", Arguments: runtime.RawExtension{Raw: []byte(`{}`)}})
	if _, err := podspec.Build(newInput(audit)); !errors.Is(err, podspec.ErrTooLarge) {
		t.Errorf("Build with more = %v, want ErrTooLarge", err)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	var pods []string
	for range 2 {
		pod, err := podspec.Build(newInput(newAudit()))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, string(encoded))
	}
	if pods[0] != pods[1] {
		t.Error("the same input made two different Pods")
	}
}

// TestBuildDoesNotTouchItsInput guards the manager's default limits, which all
// audits share.
func TestBuildDoesNotTouchItsInput(t *testing.T) {
	audit := newAudit()
	audit.Spec.Sandbox.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}
	in := newInput(audit)
	build(t, in)
	if got := in.ServerLimits[corev1.ResourceMemory]; got.String() != "512Mi" {
		t.Errorf("the default memory limit became %s", got.String())
	}
}

func TestReadRun(t *testing.T) {
	in := newInput(newAudit())
	pod := build(t, in)
	got, err := podspec.ReadRun(pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Run, got); diff != "" {
		t.Errorf("the record changed (-want +got):\n%s", diff)
	}
	for _, annotations := range []map[string]string{nil, {"mcpaudit.dev/run-record": "{"}} {
		if _, err := podspec.ReadRun(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}); !errors.Is(err, podspec.ErrNoRecord) {
			t.Errorf("ReadRun of annotations %v = %v, want ErrNoRecord", annotations, err)
		}
	}
}

func TestName(t *testing.T) {
	base := podspec.Name(newAudit(), "")
	for name, test := range map[string]struct {
		change    func(*v1alpha1.MCPServerAudit)
		requested string
		same      bool
	}{
		"nothing":            {func(*v1alpha1.MCPServerAudit) {}, "", true},
		"another object":     {func(a *v1alpha1.MCPServerAudit) { a.UID = "other" }, "", false},
		"another generation": {func(a *v1alpha1.MCPServerAudit) { a.Generation = 3 }, "", false},
		"another request":    {func(*v1alpha1.MCPServerAudit) {}, "now", false},
		"another run before": {func(a *v1alpha1.MCPServerAudit) { a.Status.Trigger = &v1alpha1.Trigger{Run: "notes-1"} }, "", false},
	} {
		audit := newAudit()
		test.change(audit)
		if got := podspec.Name(audit, test.requested); (got == base) != test.same {
			t.Errorf("%s: %q, was %q", name, got, base)
		}
	}
	for _, long := range []string{strings.Repeat("a", 253), strings.Repeat("a.", 100) + "b", "a.b-c", strings.Repeat("a", 41) + "-.b"} {
		audit := newAudit()
		audit.Name = long
		if problems := validation.IsDNS1123Label(podspec.Name(audit, "")); len(problems) > 0 {
			t.Errorf("Name of %q: %v", long, problems)
		}
		for label, value := range podspec.Labels(audit) {
			if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
				t.Errorf("label %s of %q: %v", label, long, problems)
			}
		}
	}
}

// TestL2RunNames: they end in 80 bits, so that nobody finds an annotation that leads to
// another audit's next run.
func TestL2RunNames(t *testing.T) {
	if name := podspec.Name(newAudit(), ""); !regexp.MustCompile(`^notes-[0-9a-f]{20}$`).MatchString(name) {
		t.Errorf("Name = %q, want 20 hexadecimal digits at its end", name)
	}
}

// TestS7ImageIsPulledAnew: a node asks the registry even for an image that it has, unless
// the configuration lets it run what it has.
func TestS7ImageIsPulledAnew(t *testing.T) {
	for nodeImage, want := range map[bool]corev1.PullPolicy{false: corev1.PullAlways, true: corev1.PullIfNotPresent} {
		in := newInput(newAudit())
		in.NodeImage = nodeImage
		if got := build(t, in).Spec.Containers[0].ImagePullPolicy; got != want {
			t.Errorf("node image %t: imagePullPolicy %s, want %s", nodeImage, got, want)
		}
	}
}

// TestHostname: whatever is given as an image, the host name is one (RFC 1123, 2.1), and has nothing of the
// audit's own name in it.
func TestHostname(t *testing.T) {
	for image, app := range map[string]string{
		"registry.example:5000/team/notes-server@sha256:" + strings.Repeat("a", 64): "notes-server",
		"Foo/BAR_baz.1:latest": "bar-baz-1", "///": "server", "": "server", "é@": "server", strings.Repeat("x", 300): strings.Repeat("x", 40),
	} {
		audit := newAudit()
		audit.Name = "sandbox"
		in := newInput(audit)
		in.Image = image
		pod := build(t, in)
		host := pod.Spec.Hostname
		if problems := validation.IsDNS1123Label(host); len(problems) > 0 || !strings.HasPrefix(host, app+"-") || strings.Contains(host, "sandbox") {
			t.Errorf("%q: %q %v", image, host, problems)
		}
	}
}
