package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/canary"
	"github.com/mcpaudit/mcpaudit/runner/emit"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// planVariable is the environment variable with the plan of the manager.
const planVariable = "MCPAUDIT_PLAN"

// plan is what the manager says; controllers/podspec writes it.
type plan struct {
	Timeout string          `json:"timeout"`
	FailOn  report.Severity `json:"failOn"`
	Command []string        `json:"command"`
	Network report.Network  `json:"network"`
	// Tracer is a trace.Backend; empty means Auto.
	Tracer trace.Backend `json:"tracer,omitempty"`
}

// auditFlags are the places that both sides of the Pod agree on.
type auditFlags struct{ socket, home, serviceAccount, traceDir, terminationLog string }

// runAudit is the runner's container. It exits with 0 when there is a report,
// whatever the verdict.
func runAudit(ctx context.Context, args []string) (int, error) {
	if err := dropRoot(); err != nil {
		return 1, err
	}
	var flags auditFlags
	f := pflag.NewFlagSet("audit", pflag.ContinueOnError)
	f.StringVar(&flags.socket, "socket", "", "unix socket to wait on for the shim")
	f.StringVar(&flags.home, "home", "", "home directory of the server, to plant canaries in")
	f.StringVar(&flags.serviceAccount, "service-account", "", "directory of the server's service account, to plant a token in")
	f.StringVar(&flags.traceDir, "trace", "", "directory for the trace")
	f.StringVar(&flags.terminationLog, "termination-log", "/dev/termination-log", "file for the summary")
	if err := f.Parse(args); err != nil {
		return 1, err
	}
	p, tracer, err := readPlan(os.Getenv(planVariable))
	if err != nil {
		return 1, err
	}
	r, err := watch(ctx, flags, p, tracer)
	if err != nil {
		return 1, err
	}
	if err := emit.Report(os.Stdout, flags.terminationLog, r); err != nil {
		return 1, err
	}
	return 0, nil
}

func readPlan(text string) (audit.Plan, trace.Backend, error) {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return audit.Plan{}, "", fmt.Errorf("read %s: %w", planVariable, err)
	}
	timeout, err := time.ParseDuration(p.Timeout)
	if err != nil || timeout <= 0 {
		return audit.Plan{}, "", fmt.Errorf("read %s: timeout %q is not a duration", planVariable, p.Timeout)
	}
	if p.FailOn != "" && p.FailOn.Rank() < 0 {
		return audit.Plan{}, "", fmt.Errorf("read %s: failOn %q is not a severity", planVariable, p.FailOn)
	}
	if p.Tracer != "" && !slices.Contains(trace.Backends, p.Tracer) {
		return audit.Plan{}, "", fmt.Errorf("read %s: tracer %q is none of %q", planVariable, p.Tracer, trace.Backends)
	}
	if p.Network == "" {
		p.Network = report.NetworkSinkhole
	}
	if !slices.Contains(report.Networks, p.Network) {
		return audit.Plan{}, "", fmt.Errorf("read %s: network %q is not Sinkhole, Deny or Allow", planVariable, p.Network)
	}
	return audit.Plan{Network: p.Network, Command: p.Command, FailOn: p.FailOn, Timeout: timeout}, p.Tracer, nil
}

// sink makes the authority of the sinkhole and puts its certificate where the
// server finds it: beside the socket. Nil where the network is not to be answered.
// The variables are what the server's programs have to be told of the network.
func sink(flags auditFlags, p audit.Plan) (*sinkhole.Config, []string, error) {
	registries := sinkhole.RegistriesOf(p.Command)
	switch p.Network {
	case report.NetworkAllow:
		return nil, nil, nil
	case report.NetworkDeny:
		return nil, registries.Env, nil
	}
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(filepath.Dir(flags.socket), sinkhole.AuthorityName)
	if err := os.WriteFile(file, authority.PEM(), 0o444); err != nil {
		return nil, nil, err
	}
	return &sinkhole.Config{Authority: authority, Absent: registries.Absent}, append(sinkhole.Environment(file), registries.Env...), nil
}

// watch plants the canaries and audits the server that the shim offers.
func watch(ctx context.Context, flags auditFlags, p audit.Plan, tracer trace.Backend) (report.Report, error) {
	canaries, err := canary.New(flags.home, false)
	if err != nil {
		return report.Report{}, err
	}
	if err := canaries.Plant(flags.home, canary.Shared); err != nil {
		return report.Report{}, err
	}
	if flags.serviceAccount != "" {
		canaries.AddServiceAccount()
		if err := canaries.PlantServiceAccount(flags.serviceAccount, canary.Shared); err != nil {
			return report.Report{}, err
		}
	}
	p.Canaries = canaries
	// Steps name tools, and the log must not hold a line of the server's making.
	p.Progress = func(step string) { fmt.Fprintln(os.Stderr, "mcpaudit-runner:", render.Escape(step)) }
	sunk, env, err := sink(flags, p)
	if err != nil {
		return report.Report{}, err
	}
	launcher := &shim.Launcher{Socket: flags.socket, TraceDir: flags.traceDir, Tracer: tracer, Env: append(canaries.Env(), env...), Canaries: canaries, Sinkhole: sunk}
	r, err := audit.Run(ctx, p, launcher)
	_ = launcher.Close() // the shim sees it either way
	return r, err
}
