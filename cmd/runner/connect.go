package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/emit"
)

// runConnect is the runner's container where it is alone: the server runs
// elsewhere. It exits as runAudit does.
func runConnect(ctx context.Context, args []string) (int, error) {
	f := pflag.NewFlagSet("connect", pflag.ContinueOnError)
	terminationLog := f.String("termination-log", "/dev/termination-log", "file for the summary")
	if err := f.Parse(args); err != nil {
		return 1, err
	}
	p, err := plan.Read(os.Getenv(plan.Variable))
	if err != nil {
		return 1, err
	}
	if p.URL == "" {
		return 1, errors.New("connect: the plan has no url")
	}
	dial, err := dialer(p.URL, newGuard(p.APIServers))
	if err != nil {
		return 1, err
	}
	note, err := holdTalking(*terminationLog)
	if err != nil {
		return 1, err
	}
	asked := audit.From(p)
	asked.Progress = progress
	r, err := audit.Connect(ctx, asked, audit.Remote{URL: p.URL, Dial: dial})
	if err != nil {
		return 1, err
	}
	if note != "" {
		r.Errors = append(r.Errors, note)
	}
	return 0, emit.Report(os.Stdout, *terminationLog, r)
}
