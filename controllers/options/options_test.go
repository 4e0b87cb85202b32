package options_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// load reads a configuration as the manager does.
func load(t *testing.T, content string) (options.Options, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options.Default()
	o.RulesetDigest = "sha256:rules"
	flags := pflag.NewFlagSet(t.Name(), pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse([]string{"--config=" + name, "--runner-image=a"}); err != nil {
		t.Fatal(err)
	}
	err := o.Load()
	o.File = ""
	return o, err
}

func defaults() options.Options {
	o := options.Default()
	o.RunnerImage, o.RulesetDigest = "a", "sha256:rules"
	return o
}

func TestLoad(t *testing.T) {
	everything := defaults()
	everything.Slots, everything.NamespaceSlots, everything.Concurrency = 20, 5, 16
	everything.ImageCheckInterval, everything.MaxVerdictAge = 0, 720*time.Hour
	everything.RulesetDigest, everything.Platform = "", "linux/arm64"
	everything.ServerCPU, everything.ServerMemory, everything.ServerStorage = "2", "1Gi", "2Gi"
	everything.ResolveTimeout, everything.ResolveDeadline = 5*time.Second, time.Minute
	everything.PullDeadline, everything.StartDeadline, everything.QueueDeadline, everything.PodMargin = 2*time.Minute, 3*time.Minute, 4*time.Hour, 5*time.Minute
	everything.PodTemplate = &v1alpha1.PodTemplate{Spec: v1alpha1.PodTemplateSpec{
		NodeSelector: map[string]string{"pool": "audits"},
		Tolerations:  []corev1.Toleration{{Key: "audits", Operator: corev1.TolerationOpExists}},
	}}
	everything.RunnerPullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	everything.Allowed = options.Allowed{
		Networks: []report.Network{report.NetworkSinkhole, report.NetworkAllow}, URLs: true, Placement: options.PlacementAudit,
		PriorityClassNames: []string{"low"}, RuntimeClassNames: []string{"kata"}, MaxTimeout: time.Hour, MaxImageBytes: options.NoLimit, NodeImages: true,
	}
	everything.AllowedMetadata, everything.RuntimeClass, everything.UserNamespaces = []string{}, "gvisor", options.UserNamespacesNever
	everything.GateCertificate, everything.PolicyReports = options.CertificateExternal, options.PolicyReportsNever
	everything.Discovery = options.DiscoveryDisabled
	everything.AttestationKey, everything.AttestedNamespaces = "mcpaudit-attestation-key", []string{"platform"}
	for name, test := range map[string]struct {
		content string
		want    options.Options
	}{
		"nothing":   {"", defaults()},
		"a comment": {"# as it is\n", defaults()},
		"everything": {`
slots: {total: 20, perNamespace: 5}
workers: 16
imageCheckInterval: 0s
maxVerdictAge: 720h
auditNewRules: false
platform: linux/arm64
server: {cpu: "2", memory: 1Gi, ephemeralStorage: 2Gi}
deadlines: {resolveAttempt: 5s, resolve: 1m, pull: 2m, start: 3m, queue: 4h, margin: 5m}
podTemplate:
  spec:
    nodeSelector: {pool: audits}
    tolerations: [{key: audits, operator: Exists}]
runner: {imagePullSecrets: [{name: registry}]}
allowed:
  networks: [Sinkhole, Allow]
  urls: true
  placement: Audit
  priorityClassNames: [low]
  runtimeClassNames: [kata]
  maxTimeout: 1h
  maxImageSize: "0"
  nodeImages: true
allowedMetadata: []
runtimeClassName: gvisor
userNamespaces: Never
gate: {certificate: External}
policyReports: Never
discovery: Disabled
attestation: {keySecret: mcpaudit-attestation-key, namespaces: [platform]}
`, everything},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, test.content)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadNamesWhatItCannotRead: in one line.
func TestLoadNamesWhatItCannotRead(t *testing.T) {
	for content, want := range map[string]string{
		"slot: {total: 2}":                      `unknown field "slot"`,
		"slots: {totl: 2}":                      `unknown field "slots.totl"`,
		"Slots: {total: 2}":                     `unknown field "Slots"`,
		"slots: {total: two}":                   "slots.total",
		"podTemplate: {spec: {containers: []}}": `unknown field "podTemplate.spec.containers"`,
		"podTemplate: {spec: {hostPID: true}}":  `unknown field "podTemplate.spec.hostPID"`,
		"workers: 1\nworkers: 2":                `"workers" already set`,
		"slots: [":                              "yaml",
	} {
		_, err := load(t, content)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("load %q = %v, want a line with %q", content, err, want)
		}
	}
	o := options.Default()
	o.File = filepath.Join(t.TempDir(), "none")
	if err := o.Load(); err == nil || !strings.Contains(err.Error(), o.File) {
		t.Errorf("without the file: %v", err)
	}
}

// TestLoadTellsAllProblems at once, by their keys and with the range.
func TestLoadTellsAllProblems(t *testing.T) {
	for _, test := range []struct {
		content string
		want    []string
	}{
		{"slots: {total: 0}", []string{"slots.total: invalid value 0 (want 1 to 1000)"}},
		{"slots: {total: 3, perNamespace: 4}\nworkers: 0", []string{"slots.perNamespace: invalid value 4 (want 1 to 3)", "workers: invalid value 0 (want 1 to 100)"}},
		{"imageCheckInterval: 1s\nmaxVerdictAge: 1m", []string{"imageCheckInterval: invalid value 1s (want 1m0s to", ", or 0s for never", "maxVerdictAge: invalid value 1m0s (want 1h0m0s to"}},
		{"deadlines: {start: soon, queue: 5}", []string{"deadlines.queue"}},
		{"deadlines: {start: soon, pull: later}", []string{`deadlines.start: invalid duration "soon" (want a duration such as 90s`, `deadlines.pull: invalid duration "later"`}},
		{"deadlines: {resolve: 0s, margin: 1s}", []string{"deadlines.resolve: invalid value 0s (want 1s to", "deadlines.margin: invalid value 1s (want 30s to 1h0m0s)"}},
		{"platform: windows/amd64\nuserNamespaces: auto", []string{`platform: invalid value "windows/amd64"`, `userNamespaces: invalid value "auto" (want one of ["Auto" "Always" "Never"])`}},
		{"allowed: {networks: [Open], placement: Anywhere, maxTimeout: 2h}", []string{`allowed.networks: invalid value "Open" (want one of`, `allowed.placement: invalid value "Anywhere" (want one of`, "allowed.maxTimeout: invalid value 2h0m0s (want 10s to 1h0m0s)"}},
		{"allowed: {maxImageSize: much}", []string{`allowed.maxImageSize: invalid size "much"; write it like 10Gi, or 0`}},
		{"allowed: {priorityClassNames: [A_b], runtimeClassNames: [B_c]}\nrunner: {imagePullSecrets: [{name: C_d}]}", []string{
			`allowed.priorityClassNames: invalid name "A_b"`, `allowed.runtimeClassNames: invalid name "B_c"`, `runner.imagePullSecrets: invalid name "C_d"`}},
		{"gate: {certificate: managed}", []string{`gate.certificate: invalid value "managed" (want one of ["Managed" "External"])`}},
		{"attestation: {keySecret: A_b, namespaces: [a]}", []string{`attestation.keySecret: invalid name "A_b"`}},
		{"attestation: {keySecret: key}", []string{"attestation.namespaces is required with attestation.keySecret"}},
		{"attestation: {keySecret: key, namespaces: [A_b]}", []string{`attestation.namespaces: invalid namespace "A_b"`}},
		{"discovery: Never", []string{`discovery: invalid value "Never" (want one of ["Auto" "Disabled"])`}},
		{"policyReports: always", []string{`policyReports: invalid value "always" (want one of ["Auto" "Never" "Disabled"])`}},
		{"server: {cpu: '0', memory: lots}", []string{`server.cpu: invalid value "0" (want a quantity`}},
		{"runtimeClassName: A_b\nallowedMetadata: ['*/*']", []string{`runtimeClassName: invalid name "A_b"`, `allowedMetadata: invalid value "*/*"`}},
		{"podTemplate: {metadata: {labels: {mcpaudit.dev/run: a, $patch: replace}}}", []string{"podTemplate: ", "mcpaudit.dev/run is the operator's own", `"$patch" is no name`}},
	} {
		_, err := load(t, test.content)
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("load %q = %v, want %q", test.content, err, want)
			}
		}
	}
}

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // in the error; empty: valid
	}{
		{"the least", []string{"--runner-image=a"}, ""},
		{"no image", nil, "--runner-image is required"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options.Default()
			flags := pflag.NewFlagSet(test.name, pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			err := o.Load()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Load = %v, want %q", err, test.want)
			}
		})
	}
}

// TestShippedFile: what is installed says what is the default, so that who looks for
// a key finds it there, and changes nothing.
func TestShippedFile(t *testing.T) {
	content, err := os.ReadFile("../../config/manager/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t, string(content))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaults(), got); diff != "" {
		t.Errorf("config/manager/config.yaml is not the default (-default +file):\n%s", diff)
	}
}

// TestS4RegistriesAreChecked: each entry that is none is named with its key.
func TestS4RegistriesAreChecked(t *testing.T) {
	o, err := load(t, "registries: {internal: [a.example, 'b.example:5000', '*.c.example', 10.0.0.0/8, '[fd00::1]:5000'], plainHTTP: ['10.0.0.1:5000'], privateNetworks: [203.0.113.0/24]}")
	if err != nil || len(o.Registries.Internal) != 5 {
		t.Fatalf("refused: %v", err)
	}
	o.Registries.Internal = []string{"https://a.example", "a b", "*", "10.0.0.0/99", "a.example:port"}
	o.Registries.PlainHTTP = []string{"*.example", "10.0.0.0/8"}
	o.Registries.PrivateNetworks = []string{"a.example"}
	err = o.Validate()
	for _, want := range []string{`"https://a.example"`, `"a b"`, `"*"`, `"10.0.0.0/99"`, `"a.example:port"`, `registries.plainHTTP: "*.example"`, `"10.0.0.0/8"`, `registries.privateNetworks: "a.example"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
