package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/test/command"
	"github.com/mcpaudit/mcpaudit/test/published"
)

// auditTimeout bounds one audit.
const auditTimeout = 5 * time.Minute

// audits audits each reference server with each tracer, as the command line does, and prints the
// durations. It leaves out what npm cannot install.
func audits(ctx context.Context, w io.Writer, dir string) error {
	cache, err := command.Cache("bench")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprint(w, "\nWhole audits of the reference servers, once each: wall time in seconds, every launch included.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "SERVER\tLAUNCHES\tCALLS\tBRANCHES\tSTRACE\tPTRACE\tPTRACE/STRACE\tVERDICT\n") // Flush has the error
	for _, server := range published.References {
		launched, _, err := server.Install(ctx, filepath.Join(cache, "servers"))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			_, _ = fmt.Fprintf(table, "%s\tleft out: %.100s\n", server.Name(), strings.TrimSpace(err.Error()))
			continue
		}
		var r report.Report
		var took []time.Duration
		for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
			if r, err = whole(ctx, launched, dir, tracer); err != nil {
				return fmt.Errorf("%s, %s: %w", server.Name(), tracer, err)
			}
			took = append(took, r.EndTime.Sub(r.StartTime.Time))
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d%%\t%.1f\t%.1f\t%s\t%s\n", server.Name(), r.Probe.Launches, r.Coverage.Calls.Total,
			r.Coverage.Branches.Percent(), took[0].Seconds(), took[1].Seconds(), ratio(took[1], took[0]), r.Verdict)
	}
	return table.Flush()
}

// whole audits a server with a tracer.
func whole(ctx context.Context, command []string, dir string, tracer plan.Tracer) (report.Report, error) {
	launcher, err := sandbox.New(command, dir)
	if err != nil {
		return report.Report{}, err
	}
	defer func() { _ = launcher.Close() }() // the process ends soon
	launcher.Tracer = tracer
	return audit.Run(ctx, audit.Plan{
		Command: command, FailOn: report.SeverityHigh, Timeout: auditTimeout, Decoys: launcher.Decoys(),
	}, launcher)
}
