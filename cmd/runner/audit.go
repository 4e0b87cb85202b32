package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/canary"
	"github.com/mcpaudit/mcpaudit/runner/emit"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// planVariable is the environment variable with the plan of the manager.
const planVariable = "MCPAUDIT_PLAN"

// plan is what the manager says; controllers/podspec writes it.
type plan struct {
	Timeout string          `json:"timeout"`
	FailOn  report.Severity `json:"failOn"`
	Command []string        `json:"command"`
}

// auditFlags are the places that both sides of the Pod agree on.
type auditFlags struct{ socket, home, traceDir, terminationLog string }

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
	f.StringVar(&flags.traceDir, "trace", "", "directory for the trace")
	f.StringVar(&flags.terminationLog, "termination-log", "/dev/termination-log", "file for the summary")
	if err := f.Parse(args); err != nil {
		return 1, err
	}
	p, err := readPlan(os.Getenv(planVariable))
	if err != nil {
		return 1, err
	}
	r, err := watch(ctx, flags, p)
	if err != nil {
		return 1, err
	}
	if err := emit.Report(os.Stdout, flags.terminationLog, r); err != nil {
		return 1, err
	}
	return 0, nil
}

func readPlan(text string) (audit.Plan, error) {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return audit.Plan{}, fmt.Errorf("read %s: %w", planVariable, err)
	}
	timeout, err := time.ParseDuration(p.Timeout)
	if err != nil || timeout <= 0 {
		return audit.Plan{}, fmt.Errorf("read %s: timeout %q is not a duration", planVariable, p.Timeout)
	}
	if p.FailOn != "" && p.FailOn.Rank() < 0 {
		return audit.Plan{}, fmt.Errorf("read %s: failOn %q is not a severity", planVariable, p.FailOn)
	}
	return audit.Plan{Command: p.Command, FailOn: p.FailOn, Timeout: timeout}, nil
}

// watch plants the canaries and audits the server that the shim offers.
func watch(ctx context.Context, flags auditFlags, p audit.Plan) (report.Report, error) {
	canaries, err := canary.New(flags.home, false)
	if err != nil {
		return report.Report{}, err
	}
	if err := canaries.Plant(flags.home, canary.Shared); err != nil {
		return report.Report{}, err
	}
	p.Canaries = canaries
	// Steps name tools, and the log must not hold a line of the server's making.
	p.Progress = func(step string) { fmt.Fprintln(os.Stderr, "mcpaudit-runner:", render.Escape(step)) }
	launcher := &shim.Launcher{Socket: flags.socket, TraceDir: flags.traceDir, Env: canaries.Env()}
	r, err := audit.Run(ctx, p, launcher)
	_ = launcher.Close() // the shim sees it either way
	return r, err
}
