package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// auditFlags holds the paths shared within the Pod.
type auditFlags struct{ socket, home, serviceAccount, traceDir, terminationLog string }

// newAudit is the command of the runner's container. It exits with 0 if there is a report,
// whatever the verdict.
func newAudit() *cobra.Command {
	var flags auditFlags
	c := &cobra.Command{
		Use: "audit", Short: "Trace and exercise the server of the shim, and print the report", Args: cli.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return runAudit(c.Context(), flags) },
	}
	f := c.Flags()
	f.StringVar(&flags.socket, "socket", "", "unix socket on which the shim connects")
	f.StringVar(&flags.home, "home", "", "home directory of the server, to plant decoys in")
	f.StringVar(&flags.serviceAccount, "service-account", "", "directory of the server's service account, to plant a token in")
	f.StringVar(&flags.traceDir, "trace", "", "directory for the trace")
	terminationLog(c, &flags.terminationLog)
	return c
}

func runAudit(ctx context.Context, flags auditFlags) error {
	pose(runtimeShim)
	if err := dropRoot(); err != nil {
		return err
	}
	p, err := plan.Read(os.Getenv(plan.Variable))
	if err != nil {
		return err
	}
	if err := holdTracing(); err != nil {
		return err
	}
	r, err := watch(ctx, flags, audit.From(p), p.Tracer)
	if err != nil {
		return err
	}
	return emit(os.Stdout, flags.terminationLog, r)
}

// sink creates the sinkhole's CA and writes its certificate next to the socket, where the
// server finds it. The configuration is nil unless the network is Sinkhole. The strings are
// environment variables for the server.
func sink(flags auditFlags, p audit.Plan) (*sinkhole.Config, []string, error) {
	registries := sinkhole.RegistriesOf(p.Command)
	switch p.Network {
	case report.NetworkAllow:
		return nil, nil, nil
	case report.NetworkDeny:
		return nil, registries.Env, nil
	}
	authority, err := sinkhole.NewAuthority(p.Names)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(filepath.Dir(flags.socket), p.Names.Out(sinkhole.AuthorityName))
	if err := os.WriteFile(file, authority.PEM(), 0o444); err != nil {
		return nil, nil, err
	}
	return &sinkhole.Config{Authority: authority, Absent: registries.Absent}, append(sinkhole.Environment(file), registries.Env...), nil
}

// progress logs a step, escaped because steps contain the server's tool names.
func progress(step string) { fmt.Fprintln(os.Stderr, "mcpaudit-runner:", render.Escape(step)) }

// watch plants the decoys and audits the server behind the shim.
func watch(ctx context.Context, flags auditFlags, p audit.Plan, tracer plan.Tracer) (report.Report, error) {
	decoys, err := decoy.New(flags.home, false)
	if err != nil {
		return report.Report{}, err
	}
	if err := decoys.Plant(flags.home, decoy.Shared); err != nil {
		return report.Report{}, err
	}
	if flags.serviceAccount != "" {
		decoys.AddServiceAccount()
		if err := decoys.PlantServiceAccount(flags.serviceAccount, decoy.Shared); err != nil {
			return report.Report{}, err
		}
	}
	p.Decoys = decoys
	p.Progress = progress
	p.Names = inputs.DrawNames(p.Network == report.NetworkAllow)
	sunk, env, err := sink(flags, p)
	if err != nil {
		return report.Report{}, err
	}
	launcher := &shim.Launcher{Socket: flags.socket, TraceDir: flags.traceDir, Tracer: tracer, Env: env, Decoys: decoys, Sinkhole: sunk}
	r, err := audit.Run(ctx, p, launcher)
	_ = launcher.Close() // the shim notices either way
	return r, err
}
