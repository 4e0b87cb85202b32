// Package options holds the manager's configuration: a few flags, and one file (file.go) with
// the rest, described in docs/configuration.md.
package options

import (
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// Options configures the audits.
type Options struct {
	// File is the configuration file; empty for the defaults.
	File string
	// RunNamespace is the namespace of the audit Pods: options.RunNamespace except in tests.
	RunNamespace string
	// RunnerImage is the image of the runner and the shim.
	RunnerImage string
	// Platform is preferred for multi-platform images, such as "linux/amd64".
	Platform string
	// ServerCPU, ServerMemory and ServerStorage are the default limits of the server's
	// container.
	ServerCPU, ServerMemory, ServerStorage string
	// Slots bounds the audit Pods at a time, NamespaceSlots those for one namespace.
	Slots, NamespaceSlots int
	// ImageCheckInterval is the interval for checking whether a tag has moved; 0 for never.
	ImageCheckInterval time.Duration
	// MaxVerdictAge is the age at which a server is audited again; 0 for never.
	MaxVerdictAge time.Duration
	// RulesetDigest identifies the runner's rules. Verdicts by other rules are renewed; empty
	// disables that.
	RulesetDigest string
	// Concurrency is the number of concurrent reconciliations, which may wait for registries.
	// The audits themselves run in the kubelet.
	Concurrency int
	// ResolveTimeout bounds one attempt to read an image from its registry.
	ResolveTimeout time.Duration
	// ResolveDeadline bounds the retries of an unreachable registry.
	ResolveDeadline time.Duration
	// PullDeadline bounds the time of failing image pulls.
	PullDeadline time.Duration
	// StartDeadline limits how long a Pod may be refused, and how long it may then stay unscheduled
	// or without containers.
	StartDeadline time.Duration
	// QueueDeadline limits how long scheduling gates, such as those of a queue, may hold back a
	// Pod.
	QueueDeadline time.Duration
	// PodMargin is the runner's time beyond the audit's timeout, for stopping the server and
	// writing the report.
	PodMargin time.Duration
	// PodTemplate is merged into every audit Pod before that of the spec.
	PodTemplate *v1alpha1.PodTemplate
	// AllowedMetadata are the label and annotation keys that the spec's Pod template may use,
	// see podspec.KeyAllowed.
	AllowedMetadata []string
	// RuntimeClass is the default RuntimeClass of audit Pods.
	RuntimeClass string
	// UserNamespaces says when audit Pods have user namespaces.
	UserNamespaces UserNamespaces
	// GateCertificate says who maintains the gate's certificate.
	GateCertificate Certificate
	// Discovery says whether policies may discover servers.
	Discovery Discovery
	// PolicyReports says whether verdicts are written as policy reports.
	PolicyReports PolicyReports
	// AttestationKey is the Secret in the operator's namespace with the key that signs
	// statements; empty to leave them unsigned.
	AttestationKey string
	// AttestedNamespaces has the namespaces whose audits are signed; "*" for all. Audit authors
	// there decide what the key signs.
	AttestedNamespaces []string
	// Registries lists registries that may be at private addresses or without TLS.
	Registries imageref.Registries
	// RunnerPullSecrets are the pull secrets of the runner's image in the run namespace.
	RunnerPullSecrets []corev1.LocalObjectReference
	// Allowed restricts the spec of an audit.
	Allowed Allowed
	// APIServers are the API server's known addresses, detected by the manager.
	APIServers []netip.Addr
}

// Discovery is Auto (for policies that use it) or Disabled.
type Discovery string

// The values of Discovery. Disabled needs no permissions.
const (
	DiscoveryAuto     Discovery = "Auto"
	DiscoveryDisabled Discovery = "Disabled"
)

// PolicyReports is Auto (if the cluster has a kind for them), Never or Disabled.
type PolicyReports string

// The values of PolicyReports. Never deletes existing reports; Disabled ignores them and needs
// no permissions.
const (
	PolicyReportsAuto     PolicyReports = "Auto"
	PolicyReportsNever    PolicyReports = "Never"
	PolicyReportsDisabled PolicyReports = "Disabled"
)

// Certificate is Managed (by the operator) or External (by others, in the same Secret).
type Certificate string

// The values of Certificate.
const (
	CertificateManaged  Certificate = "Managed"
	CertificateExternal Certificate = "External"
)

// UserNamespaces is Auto, Always or Never.
type UserNamespaces string

// The values of UserNamespaces. Auto means Always if every schedulable node supports them.
const (
	UserNamespacesAuto   UserNamespaces = "Auto"
	UserNamespacesAlways UserNamespaces = "Always"
	UserNamespacesNever  UserNamespaces = "Never"
)

// Default returns the defaults. RunnerImage has none: it must match the manager's version.
func Default() Options {
	return Options{
		RunNamespace: RunNamespace, Platform: "linux/" + runtime.GOARCH, // assume nodes like the manager's own
		ServerCPU: "1", ServerMemory: "512Mi", ServerStorage: "1Gi",
		Slots: 2, NamespaceSlots: 1, ImageCheckInterval: time.Hour,
		Concurrency: 8, ResolveTimeout: 15 * time.Second, ResolveDeadline: 10 * time.Minute,
		PullDeadline: time.Minute, StartDeadline: 10 * time.Minute, QueueDeadline: time.Hour, PodMargin: 3 * time.Minute,
		AllowedMetadata: []string{"kueue.x-k8s.io/*"}, UserNamespaces: UserNamespacesAuto,
		GateCertificate: CertificateManaged, PolicyReports: PolicyReportsAuto, Discovery: DiscoveryAuto,
		Allowed: defaultAllowed(),
	}
}

// AddFlags adds the flags about the process rather than audits.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.File, "config", o.File, "file with the configuration (docs/configuration.md); the defaults without it")
	flags.StringVar(&o.RunnerImage, "runner-image", o.RunnerImage, "image of the runner (required)")
}

// ServerLimits returns the default limits of a server.
func (o *Options) ServerLimits() (corev1.ResourceList, error) {
	limits := corev1.ResourceList{}
	for _, limit := range []struct {
		name       corev1.ResourceName
		key, value string
	}{
		{corev1.ResourceCPU, "server.cpu", o.ServerCPU}, {corev1.ResourceMemory, "server.memory", o.ServerMemory},
		{corev1.ResourceEphemeralStorage, "server.ephemeralStorage", o.ServerStorage},
	} {
		quantity, err := resource.ParseQuantity(limit.value)
		if err != nil || quantity.Sign() <= 0 {
			return nil, fmt.Errorf("%s: invalid value %q (want a quantity such as 1 or 512Mi)", limit.key, limit.value)
		}
		limits[limit.name] = quantity
	}
	return limits, nil
}
