package podspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ErrTooLarge says that a part of the spec does not fit into the plan, which is an
// environment variable: the kernel takes no more than 128 KiB for one (execve(2)).
var ErrTooLarge = errors.New("the spec is too large for the Pod")

// maxPlan leaves room for the name of the variable.
const maxPlan = 127 << 10

// plan is what the runner is told; cmd/runner reads it.
type plan struct {
	Timeout string `json:"timeout"`
	// FailOn is empty when no finding fails the audit.
	FailOn  string   `json:"failOn,omitempty"`
	Command []string `json:"command,omitempty"`
	// Network and Tracer are those of the spec.
	Network v1alpha1.NetworkMode `json:"network,omitempty"`
	Tracer  v1alpha1.Tracer      `json:"tracer,omitempty"`
	// Transport, and where the server listens: at Port and Path, or at URL.
	Transport v1alpha1.Transport `json:"transport"`
	Port      int32              `json:"port,omitempty"`
	Path      string             `json:"path,omitempty"`
	URL       string             `json:"url,omitempty"`
	// APIServers are addresses that URL must not lead to.
	APIServers []netip.Addr `json:"apiServers,omitempty"`
	// Scope is what the server may do; a list that is there and empty allows nothing.
	Scope        *v1alpha1.DeclaredScope `json:"declaredScope,omitempty"`
	Suppressions []v1alpha1.Suppression  `json:"suppressions,omitempty"`
	Probe        probe                   `json:"probe,omitzero"`
}

// probe is spec.probe; what is not set has the runner's default.
type probe struct {
	Calls           v1alpha1.ProbeCalls        `json:"calls,omitempty"`
	Rounds          int32                      `json:"rounds,omitempty"`
	MaxCallsPerTool int32                      `json:"maxCallsPerTool,omitempty"`
	CallTimeout     string                     `json:"callTimeout,omitempty"`
	Inputs          map[string]json.RawMessage `json:"inputs,omitempty"`
	SkipTools       []string                   `json:"skipTools,omitempty"`
	Seed            int64                      `json:"seed,omitempty"`
}

// encodePlan is the JSON for the runner.
func encodePlan(in Input) (string, error) {
	spec := in.Audit.Spec
	p := plan{
		Timeout:   spec.Timeout.Duration.String(),
		Transport: spec.Server.Speaks(), Port: spec.Server.Port, Path: spec.Server.Endpoint(), URL: spec.Server.URL,
		Scope: spec.DeclaredScope, Suppressions: spec.Suppressions,
	}
	if spec.FailOn != v1alpha1.FailOnNever {
		p.FailOn = string(spec.FailOn)
	}
	if spec.Server.URL == "" {
		p.Command = in.Command
		p.Network, p.Tracer = network(in.Audit), cmp.Or(spec.Sandbox.Tracer, v1alpha1.TracerAuto)
	}
	var err error
	if p.Probe, err = probeOf(spec.Probe); err != nil {
		return "", err
	}
	if spec.Server.URL != "" {
		p.Probe.Calls = cmp.Or(p.Probe.Calls, v1alpha1.ProbeCallsReadOnlyHinted)
		p.APIServers = in.APIServers
	}
	if size := size(spec.DeclaredScope); size > v1alpha1.MaxScopeBytes {
		return "", tooLarge("spec.declaredScope", size, v1alpha1.MaxScopeBytes)
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	if len(encoded) > maxPlan {
		return "", tooLarge("what the runner has to know", len(encoded), maxPlan)
	}
	return string(encoded), nil
}

func probeOf(spec v1alpha1.Probe) (probe, error) {
	p := probe{
		Calls: spec.Calls, Rounds: spec.Rounds, MaxCallsPerTool: spec.MaxCallsPerTool,
		SkipTools: spec.SkipTools, Seed: spec.Seed, CallTimeout: duration(spec.CallTimeout),
	}
	size := 0
	for _, input := range spec.Inputs {
		if p.Inputs == nil {
			p.Inputs = map[string]json.RawMessage{}
		}
		p.Inputs[input.Tool] = input.Arguments.Raw
		size += len(input.Arguments.Raw)
	}
	if size > v1alpha1.MaxInputBytes {
		return probe{}, tooLarge("spec.probe.inputs", size, v1alpha1.MaxInputBytes)
	}
	return p, nil
}

func tooLarge(field string, bytes, most int) error {
	return fmt.Errorf("%w: %s has %d bytes, and at most %d are possible", ErrTooLarge, field, bytes, most)
}

// size is that of all entries of a scope, in bytes.
func size(scope *v1alpha1.DeclaredScope) int {
	if scope == nil {
		return 0
	}
	n := 0
	for _, entry := range slices.Concat(scope.Egress, scope.ReadPaths, scope.WritePaths, scope.Exec, scope.Listen) {
		n += len(entry)
	}
	return n
}

// duration is empty for none.
func duration(d metav1.Duration) string {
	if d.Duration == 0 {
		return ""
	}
	return d.Duration.String()
}
