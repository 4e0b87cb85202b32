package podspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ErrInputs says that spec.probe.inputs do not fit into the plan, which is an
// environment variable: the kernel takes no more than 128 KiB for one (execve(2)).
var ErrInputs = errors.New("spec.probe.inputs are too large")

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
	Probe     probe              `json:"probe,omitzero"`
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
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
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
		return probe{}, fmt.Errorf("%w: they have %d bytes, and at most %d are possible", ErrInputs, size, v1alpha1.MaxInputBytes)
	}
	return p, nil
}

// duration is empty for none.
func duration(d metav1.Duration) string {
	if d.Duration == 0 {
		return ""
	}
	return d.Duration.String()
}
