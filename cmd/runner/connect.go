package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/pflag"

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
	p, err := readPlan(os.Getenv(planVariable))
	if err != nil {
		return 1, err
	}
	if p.url == "" {
		return 1, errors.New("connect: the plan has no url")
	}
	dial, err := dialer(p.url, newGuard(p.apiServers))
	if err != nil {
		return 1, err
	}
	note, err := holdTalking(*terminationLog)
	if err != nil {
		return 1, err
	}
	p.audit.Progress = progress
	r, err := audit.Connect(ctx, p.audit, audit.Remote{URL: p.url, Dial: dial})
	if err != nil {
		return 1, err
	}
	if note != "" {
		r.Errors = append(r.Errors, note)
	}
	return 0, emit.Report(os.Stdout, *terminationLog, r)
}
