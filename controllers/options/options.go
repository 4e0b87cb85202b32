// Package options holds what a manager is configured with: a few flags that say
// where it is, and one file (file.go) with all the rest. docs/configuration.md is the
// file's reference.
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

// Options configure the audits.
type Options struct {
	// File is where the configuration is read from; empty for the defaults.
	File string
	// RunNamespace is where the audit Pods run: the constant of that name, but in tests.
	RunNamespace string
	// RunnerImage is the image of the runner and of the shim.
	RunnerImage string
	// Platform is the one that is run of a multi-platform image, if it has it,
	// such as "linux/amd64".
	Platform string
	// ServerCPU, ServerMemory and ServerStorage limit the server's container
	// where the spec does not.
	ServerCPU, ServerMemory, ServerStorage string
	// Slots is how many audit Pods may exist at a time, NamespaceSlots how many of
	// them for the audits of one namespace.
	Slots, NamespaceSlots int
	// ImageCheckInterval is how often the registry is asked whether a tag names
	// another image by now; 0 for never.
	ImageCheckInterval time.Duration
	// MaxVerdictAge is how old a verdict may become before its server is audited
	// again; 0 for as old as it likes.
	MaxVerdictAge time.Duration
	// RulesetDigest of the runner's rules. Verdicts of other rules are
	// renewed; empty turns that off.
	RulesetDigest string
	// Concurrency is how many audits are reconciled at a time. Reconciling waits
	// for registries; running audits is the kubelet's.
	Concurrency int
	// ResolveTimeout bounds one attempt to read an image from its registry.
	ResolveTimeout time.Duration
	// ResolveDeadline is how long an unreachable registry is tried.
	ResolveDeadline time.Duration
	// PullDeadline is how long a failing image pull may go on.
	PullDeadline time.Duration
	// StartDeadline is how long a Pod may be refused, and then how long it may stay
	// unscheduled or without containers.
	StartDeadline time.Duration
	// QueueDeadline is how long a Pod may be held back by its scheduling gates, such
	// as those of a queue.
	QueueDeadline time.Duration
	// PodMargin is the time that the runner has beyond an audit's timeout, to wait for the
	// server and to write the report.
	PodMargin time.Duration
	// PodTemplate is laid over every audit Pod, under the one of the spec.
	PodTemplate *v1alpha1.PodTemplate
	// AllowedMetadata are the keys of labels and annotations that the Pod template of
	// a spec may use, see podspec.KeyAllowed.
	AllowedMetadata []string
	// RuntimeClass of audit Pods whose spec names none.
	RuntimeClass string
	// UserNamespaces says when audit Pods have a user namespace of their own.
	UserNamespaces UserNamespaces
	// GateCertificate says who keeps the certificate of the gate.
	GateCertificate Certificate
	// Discovery says whether policies may have servers of the cluster audited.
	Discovery Discovery
	// PolicyReports says whether verdicts are written as policy reports.
	PolicyReports PolicyReports
	// AttestationKey is the name of the Secret, in the manager's own namespace, with the
	// key that signs the statements of audits; empty for statements that are not signed.
	AttestationKey string
	// AttestedNamespaces has those whose audits are signed; "*" for all. Who may write an
	// audit there decides what the key signs.
	AttestedNamespaces []string
	// Registries say which registries may be asked at private addresses, or without TLS.
	Registries imageref.Registries
	// RunnerPullSecrets are Secrets of the run namespace that the runner's image is pulled
	// with.
	RunnerPullSecrets []corev1.LocalObjectReference
	// Allowed are the privileges that the spec of an audit may ask for.
	Allowed Allowed
	// APIServers are the known addresses of the API server; the manager detects them.
	APIServers []netip.Addr
}

// Discovery is Auto (for the policies that ask for it) or Disabled.
type Discovery string

// The choices. Disabled needs no rights.
const (
	DiscoveryAuto     Discovery = "Auto"
	DiscoveryDisabled Discovery = "Disabled"
)

// PolicyReports is Auto (where the cluster has a kind for them), Never or Disabled.
type PolicyReports string

// The choices. Never deletes those that there are; Disabled touches none, and needs no
// rights.
const (
	PolicyReportsAuto     PolicyReports = "Auto"
	PolicyReportsNever    PolicyReports = "Never"
	PolicyReportsDisabled PolicyReports = "Disabled"
)

// Certificate is Managed (the operator makes and renews it) or External (somebody else
// does, in the same Secret).
type Certificate string

// The choices.
const (
	CertificateManaged  Certificate = "Managed"
	CertificateExternal Certificate = "External"
)

// UserNamespaces is Auto, Always or Never.
type UserNamespaces string

// The choices. Auto is Always where every node that can be scheduled to says that
// it has them.
const (
	UserNamespacesAuto   UserNamespaces = "Auto"
	UserNamespacesAlways UserNamespaces = "Always"
	UserNamespacesNever  UserNamespaces = "Never"
)

// Default returns the options of a manager without a file. RunnerImage has no
// default: it has to be of the manager's own version.
func Default() Options {
	return Options{
		RunNamespace: RunNamespace, Platform: "linux/" + runtime.GOARCH, // as if the nodes were like the manager's own
		ServerCPU: "1", ServerMemory: "512Mi", ServerStorage: "1Gi",
		Slots: 2, NamespaceSlots: 1, ImageCheckInterval: time.Hour,
		Concurrency: 8, ResolveTimeout: 15 * time.Second, ResolveDeadline: 10 * time.Minute,
		PullDeadline: time.Minute, StartDeadline: 10 * time.Minute, QueueDeadline: time.Hour, PodMargin: 3 * time.Minute,
		AllowedMetadata: []string{"kueue.x-k8s.io/*"}, UserNamespaces: UserNamespacesAuto,
		GateCertificate: CertificateManaged, PolicyReports: PolicyReportsAuto, Discovery: DiscoveryAuto,
		Allowed: defaultAllowed(),
	}
}

// AddFlags binds what is about the process, and not about audits, to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.File, "config", o.File, "file with the configuration (docs/configuration.md); the defaults without it")
	flags.StringVar(&o.RunnerImage, "runner-image", o.RunnerImage, "image of the runner (required)")
}

// ServerLimits are the limits of a server without limits of its own.
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
			return nil, fmt.Errorf("%s: %q is no limit, write it as for a container, such as 1 or 512Mi", limit.key, limit.value)
		}
		limits[limit.name] = quantity
	}
	return limits, nil
}
