package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/canary"
	"github.com/mcpaudit/mcpaudit/runner/emit"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

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
	p, err := plan.Read(os.Getenv(plan.Variable))
	if err != nil {
		return 1, err
	}
	if err := holdTracing(); err != nil {
		return 1, err
	}
	r, err := watch(ctx, flags, audit.From(p), p.Tracer)
	if err != nil {
		return 1, err
	}
	return 0, emit.Report(os.Stdout, flags.terminationLog, r)
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

// progress logs a step. Steps name tools, and the log must not hold a line of the
// server's making.
func progress(step string) { fmt.Fprintln(os.Stderr, "mcpaudit-runner:", render.Escape(step)) }

// watch plants the canaries and audits the server that the shim offers.
func watch(ctx context.Context, flags auditFlags, p audit.Plan, tracer plan.Tracer) (report.Report, error) {
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
	p.Progress = progress
	sunk, env, err := sink(flags, p)
	if err != nil {
		return report.Report{}, err
	}
	launcher := &shim.Launcher{Socket: flags.socket, TraceDir: flags.traceDir, Tracer: tracer, Env: append(canaries.Env(), env...), Canaries: canaries, Sinkhole: sunk}
	r, err := audit.Run(ctx, p, launcher)
	_ = launcher.Close() // the shim sees it either way
	return r, err
}
