// Package options holds what the flags of the manager set, for every controller.
package options

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Options configure the audits.
type Options struct {
	// RunNamespace is where the audit Pods run. It is used for nothing else.
	RunNamespace string
	// RunnerImage is the image of the runner and of the shim.
	RunnerImage string
	// Platform is the one whose entrypoint is read from a multi-platform image,
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
	// RulesetDigest is that of the runner's rules. Verdicts of other rules are
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
	// PodMargin is what the runner has beyond an audit's timeout, to wait for the
	// server and to write the report.
	PodMargin time.Duration
	// PodTemplate is laid over every audit Pod, under the one of the spec.
	PodTemplate *v1alpha1.PodTemplate
	// AllowedMetadata are the keys of labels and annotations that the Pod template of
	// a spec may use, see podspec.KeyAllowed.
	AllowedMetadata []string
	// RuntimeClass of audit Pods whose spec names none.
	RuntimeClass string
}

// Default returns the options of a manager without flags. RunnerImage has no
// default: it has to be of the manager's own version.
func Default() Options {
	return Options{
		RunNamespace: "mcpaudit-runs", Platform: defaultPlatform,
		ServerCPU: "1", ServerMemory: "512Mi", ServerStorage: "1Gi",
		Slots: 2, NamespaceSlots: 1, ImageCheckInterval: time.Hour,
		Concurrency: 4, ResolveTimeout: 15 * time.Second, ResolveDeadline: 10 * time.Minute,
		PullDeadline: time.Minute, StartDeadline: 10 * time.Minute, QueueDeadline: time.Hour, PodMargin: 3 * time.Minute,
		AllowedMetadata: []string{"kueue.x-k8s.io/*"},
	}
}

// AddFlags binds the options to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.RunNamespace, "run-namespace", o.RunNamespace, "namespace in which audit Pods run")
	flags.StringVar(&o.RunnerImage, "runner-image", o.RunnerImage, "image of the runner (required)")
	flags.StringVar(&o.Platform, "platform", o.Platform, "platform whose entrypoint is read from multi-platform images")
	flags.StringVar(&o.ServerCPU, "server-cpu", o.ServerCPU, "CPU limit of a server without a limit of its own")
	flags.StringVar(&o.ServerMemory, "server-memory", o.ServerMemory, "memory limit of a server without a limit of its own")
	flags.StringVar(&o.ServerStorage, "server-storage", o.ServerStorage, "ephemeral-storage limit of a server without a limit of its own")
	flags.IntVar(&o.Slots, "slots", o.Slots, "audit Pods that may exist at a time")
	flags.IntVar(&o.NamespaceSlots, "namespace-slots", o.NamespaceSlots, "audit Pods that may exist at a time for the audits of one namespace")
	flags.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "audits that are reconciled at a time")
	flags.DurationVar(&o.ResolveTimeout, "resolve-timeout", o.ResolveTimeout, "bound of one attempt to read an image from its registry")
	flags.DurationVar(&o.ResolveDeadline, "resolve-deadline", o.ResolveDeadline, "how long an unreachable registry is tried")
	flags.DurationVar(&o.PullDeadline, "pull-deadline", o.PullDeadline, "how long a failing image pull may go on")
	flags.DurationVar(&o.StartDeadline, "start-deadline", o.StartDeadline, "how long an audit Pod may take to start")
	flags.DurationVar(&o.PodMargin, "pod-margin", o.PodMargin, "time that an audit Pod has beyond the timeout of its audit")
}

// Validate tells what is wrong with the options, all of it at once.
func (o *Options) Validate() error {
	var problems []error
	if o.RunnerImage == "" {
		problems = append(problems, errors.New("--runner-image is required"))
	}
	if len(validation.IsDNS1123Label(o.RunNamespace)) > 0 {
		problems = append(problems, fmt.Errorf("--run-namespace %q is no namespace", o.RunNamespace))
	}
	if o.Concurrency < 1 {
		problems = append(problems, fmt.Errorf("--concurrency %d is less than 1", o.Concurrency))
	}
	if o.Slots < 1 || o.NamespaceSlots < 1 {
		problems = append(problems, fmt.Errorf("--slots %d or --namespace-slots %d is less than 1", o.Slots, o.NamespaceSlots))
	}
	if _, err := o.ServerLimits(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// ServerLimits are the limits of a server without limits of its own.
func (o *Options) ServerLimits() (corev1.ResourceList, error) {
	limits := corev1.ResourceList{}
	for name, value := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: o.ServerCPU, corev1.ResourceMemory: o.ServerMemory, corev1.ResourceEphemeralStorage: o.ServerStorage,
	} {
		quantity, err := resource.ParseQuantity(value)
		if err != nil || quantity.Sign() <= 0 {
			return nil, fmt.Errorf("%q is no limit for %s", value, name)
		}
		limits[name] = quantity
	}
	return limits, nil
}
