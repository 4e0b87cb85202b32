package options

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// Upper bounds of options without a natural one.
const (
	maxSlots   = 1000
	maxWorkers = 100
)

// duration is an option with its key and its range.
type duration struct {
	key         string
	value       *time.Duration
	least, most time.Duration
	// off means that 0 disables it.
	off bool
}

func (o *Options) durations() []duration {
	const day = 24 * time.Hour
	return []duration{
		{"imageCheckInterval", &o.ImageCheckInterval, time.Minute, 30 * day, true},
		{"maxVerdictAge", &o.MaxVerdictAge, time.Hour, 365 * day, true},
		{"deadlines.resolveAttempt", &o.ResolveTimeout, time.Second, 2 * time.Minute, false},
		{"deadlines.resolve", &o.ResolveDeadline, time.Second, day, false},
		{"deadlines.pull", &o.PullDeadline, time.Second, time.Hour, false},
		{"deadlines.start", &o.StartDeadline, 10 * time.Second, day, false},
		{"deadlines.queue", &o.QueueDeadline, 10 * time.Second, 7 * day, false},
		{"allowed.maxTimeout", &o.Allowed.MaxTimeout, 10 * time.Second, time.Hour, false},
		// The runner starts the server several times and waits for it to end.
		{"deadlines.margin", &o.PodMargin, 30 * time.Second, time.Hour, false},
	}
}

// Validate reports every problem with the options, with the flag or key and the accepted
// values.
func (o *Options) Validate() error {
	var problems []error
	demand := func(holds bool, format string, args ...any) {
		if !holds {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	demand(o.RunnerImage != "", "--runner-image is required")
	for _, d := range o.durations() {
		outside := plan.Within(d.key, *d.value, d.least, d.most)
		switch {
		case outside != nil && !d.off:
			problems = append(problems, outside)
		case outside != nil && *d.value != 0:
			problems = append(problems, fmt.Errorf("%w, or 0s for never", outside))
		}
	}
	architecture, isLinux := strings.CutPrefix(o.Platform, "linux/")
	demand(isLinux && architecture != "", "platform: invalid value %q (want a platform such as linux/amd64 or linux/arm64)", o.Platform)
	problems = append(problems,
		plan.Within("slots.total", o.Slots, 1, maxSlots),
		plan.Within("slots.perNamespace", o.NamespaceSlots, 1, o.Slots),
		plan.Within("workers", o.Concurrency, 1, maxWorkers),
		plan.OneOf("userNamespaces", o.UserNamespaces, UserNamespacesAuto, UserNamespacesAlways, UserNamespacesNever),
		plan.OneOf("gate.certificate", o.GateCertificate, CertificateManaged, CertificateExternal),
		plan.OneOf("discovery", o.Discovery, DiscoveryAuto, DiscoveryDisabled),
		plan.OneOf("policyReports", o.PolicyReports, PolicyReportsAuto, PolicyReportsNever, PolicyReportsDisabled),
		o.Registries.Validate(),
		o.validateAllowed(),
	)
	problems = append(problems, o.validateAttestation()...)
	demand(optional(o.RuntimeClass), "runtimeClassName: invalid name %q", o.RuntimeClass)
	for _, key := range o.AllowedMetadata {
		demand(isPattern(key), "allowedMetadata: invalid value %q (want the key of a label or annotation, or a prefix such as kueue.x-k8s.io/*)", key)
	}
	if _, err := o.ServerLimits(); err != nil {
		problems = append(problems, err)
	}
	if err := podspec.CheckTemplate(o.PodTemplate, []string{podspec.AllKeys}); err != nil {
		problems = append(problems, fmt.Errorf("podTemplate: %w", err))
	}
	return errors.Join(problems...)
}

// validateAttestation checks the key and the namespaces of signed audits.
func (o *Options) validateAttestation() []error {
	var problems []error
	if !optional(o.AttestationKey) {
		problems = append(problems, fmt.Errorf("attestation.keySecret: invalid name %q", o.AttestationKey))
	}
	if o.AttestationKey != "" && len(o.AttestedNamespaces) == 0 {
		problems = append(problems, errors.New("attestation.namespaces is required with attestation.keySecret: list the namespaces whose audits are signed, or \"*\" for all"))
	}
	for _, namespace := range o.AttestedNamespaces {
		if namespace != "*" && len(validation.IsDNS1123Label(namespace)) > 0 {
			problems = append(problems, fmt.Errorf("attestation.namespaces: invalid namespace %q", namespace))
		}
	}
	return problems
}

// validateAllowed checks the section allowed and the names of the runner's pull secrets.
func (o *Options) validateAllowed() error {
	problems := []error{plan.OneOf("allowed.placement", o.Allowed.Placement, PlacementOperator, PlacementAudit)}
	for _, network := range o.Allowed.Networks {
		problems = append(problems, plan.OneOf("allowed.networks", network, report.NetworkSinkhole, report.NetworkDeny, report.NetworkAllow))
	}
	for _, list := range []struct {
		key   string
		names []string
	}{
		{"allowed.priorityClassNames", o.Allowed.PriorityClassNames}, {"allowed.runtimeClassNames", o.Allowed.RuntimeClassNames},
		{"runner.imagePullSecrets", secretNames(o.RunnerPullSecrets)},
	} {
		for _, name := range list.names {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				problems = append(problems, fmt.Errorf("%s: invalid name %q", list.key, name))
			}
		}
	}
	return errors.Join(problems...)
}

// optional reports whether a name is a valid object name or empty.
func optional(name string) bool {
	return name == "" || len(validation.IsDNS1123Subdomain(name)) == 0
}

func isPattern(key string) bool {
	prefix, ok := strings.CutSuffix(key, "/*")
	return key == podspec.AllKeys || ok && len(validation.IsDNS1123Subdomain(prefix)) == 0 || len(validation.IsQualifiedName(key)) == 0
}

func secretNames(references []corev1.LocalObjectReference) []string {
	var names []string
	for _, reference := range references {
		names = append(names, reference.Name)
	}
	return names
}
