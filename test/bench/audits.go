package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// The reference servers, at one version, with their arguments.
const (
	referenceScope   = "@modelcontextprotocol/server-"
	referenceVersion = "2026.8.31"
)

var references = [][]string{{"everything"}, {"filesystem", "/tmp"}, {"memory"}, {"sequential-thinking"}}

// auditTimeout is for one audit.
const auditTimeout = 5 * time.Minute

// audits audits each reference server with each tracer, as the command line does,
// and prints how long that took. What npm cannot install is left out.
func audits(ctx context.Context, w io.Writer, dir string) error {
	_, _ = fmt.Fprint(w, "\nWhole audits of the reference servers, once each: wall time in seconds, every launch included.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER\tLAUNCHES\tCALLS\tBRANCHES\tSTRACE\tPTRACE\tPTRACE/STRACE\tVERDICT\n") // Flush has the error
	for _, server := range references {
		command, err := referenceCommand(ctx, server)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			_, _ = fmt.Fprintf(table, "%s\tleft out: %.100s\n", server[0], strings.TrimSpace(err.Error()))
			continue
		}
		var r report.Report
		var took []time.Duration
		for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
			if r, err = whole(ctx, command, dir, tracer); err != nil {
				return fmt.Errorf("%s, %s: %w", server[0], tracer, err)
			}
			took = append(took, r.EndTime.Sub(r.StartTime.Time))
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d%%\t%.1f\t%.1f\t%s\t%s\n", server[0], r.Probe.Launches, r.Coverage.Calls.Total,
			r.Coverage.Branches.Percent(), took[0].Seconds(), took[1].Seconds(), ratio(took[1], took[0]), r.Verdict)
	}
	return table.Flush()
}

// whole audits one server.
func whole(ctx context.Context, command []string, dir string, tracer plan.Tracer) (report.Report, error) {
	launcher, err := sandbox.New(command, dir)
	if err != nil {
		return report.Report{}, err
	}
	defer func() { _ = launcher.Close() }() // what it held goes with us in any case
	launcher.Tracer = tracer
	return audit.Run(ctx, audit.Plan{
		Command: command, FailOn: report.SeverityHigh, Timeout: auditTimeout, Decoys: launcher.Decoys(),
	}, launcher)
}

// referenceCommand installs a reference server, once, and returns its command.
func referenceCommand(ctx context.Context, server []string) ([]string, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	name := referenceScope + server[0]
	dir := filepath.Join(cache, "server-"+server[0]+"-"+referenceVersion)
	script := filepath.Join(dir, "node_modules", name, "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := execute(ctx, dir, "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
			name+"@"+referenceVersion); err != nil {
			return nil, err
		}
	}
	return append([]string{"node", script}, server[1:]...), nil
}
