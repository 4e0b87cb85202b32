package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// newConnect is the command of the only container of a remote server's Pod. It exits like
// newAudit.
func newConnect() *cobra.Command {
	var log string
	c := &cobra.Command{
		Use: "connect", Short: "Exercise a server that runs elsewhere, and print the report", Args: cli.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return runConnect(c.Context(), log) },
	}
	terminationLog(c, &log)
	return c
}

func runConnect(ctx context.Context, log string) error {
	p, err := plan.Read(os.Getenv(plan.Variable))
	if err != nil {
		return err
	}
	if p.URL == "" {
		return errors.New("connect: the plan has no url")
	}
	dial, err := dialer(p.URL, newGuard(p.APIServers))
	if err != nil {
		return err
	}
	note, err := holdTalking(log)
	if err != nil {
		return err
	}
	asked := audit.From(p)
	asked.Progress, asked.Names = progress, inputs.DrawNames(true)
	r, err := audit.Connect(ctx, asked, audit.Remote{URL: p.URL, Dial: dial})
	if err != nil {
		return err
	}
	if note != "" {
		r.Errors = append(r.Errors, note)
	}
	return emit(os.Stdout, log, r)
}
