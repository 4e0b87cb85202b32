package podspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// ErrTooLarge means that the spec does not fit into the plan, which is an environment variable
// of at most 128 KiB (execve(2)).
var ErrTooLarge = errors.New("the spec is too large for the Pod")

// maxPlan leaves room for the variable's name.
const maxPlan = 127 << 10

func encodePlan(in Input) (string, error) {
	spec := in.Audit.Spec
	p := plan.Plan{
		Timeout:   plan.Duration(spec.Timeout),
		Transport: spec.Server.Speaks(), Port: uint16(spec.Server.Port), Path: spec.Server.Endpoint(), URL: spec.Server.URL, //nolint:gosec // the CRD bounds ports
		Scope: spec.DeclaredScope, Suppressions: spec.Suppressions, MinAssurance: spec.MinAssurance,
	}
	if spec.FailOn != v1alpha1.FailOnNever {
		p.FailOn = report.Severity(spec.FailOn)
	}
	if spec.Server.URL == "" {
		p.Command = in.Command
		if len(spec.Server.Command) == 0 { // the image's, but for the args
			p.Shipped = max(0, len(in.Command)-len(spec.Server.Args))
		}
		p.Network, p.Tracer = network(in.Audit), cmp.Or(spec.Sandbox.Tracer, plan.TracerAuto)
	}
	var err error
	if p.Probe, err = probeOf(spec.Probe); err != nil {
		return "", err
	}
	if spec.Server.URL != "" {
		p.Probe.Calls = cmp.Or(p.Probe.Calls, report.CallsReadOnlyHinted)
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

func probeOf(spec v1alpha1.Probe) (plan.Probe, error) {
	p := plan.Probe{
		Calls: spec.Calls, Rounds: int(spec.Rounds), MaxCallsPerTool: int(spec.MaxCallsPerTool),
		SkipTools: spec.SkipTools, Seed: spec.Seed, CallTimeout: plan.Duration(spec.CallTimeout),
		Depth: spec.Depth, Attack: spec.Attack,
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
		return plan.Probe{}, tooLarge("spec.probe.inputs", size, v1alpha1.MaxInputBytes)
	}
	return p, nil
}

func tooLarge(field string, bytes, most int) error {
	return fmt.Errorf("%w: %s has %d bytes, and at most %d are possible", ErrTooLarge, field, bytes, most)
}

// size returns the size of all entries of a scope, in bytes.
func size(scope *report.DeclaredScope) int {
	if scope == nil {
		return 0
	}
	n := 0
	for _, entry := range slices.Concat(scope.Egress, scope.ReadPaths, scope.WritePaths, scope.Exec, scope.Listen) {
		n += len(entry)
	}
	return n
}
