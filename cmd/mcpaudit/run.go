package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/scratch"
)

// run is the command of that name. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o options
	plan, tracer, err := o.parse(args)
	if err != nil {
		return exitError, err
	}
	if o.help {
		return 0, explainCommand(stdout, "run")
	}
	memory, err := o.memoryLimit()
	if err != nil {
		return exitError, err
	}
	dir, remove, err := o.traceDir()
	if err != nil {
		return exitError, err
	}
	defer remove()
	launcher, err := sandbox.New(plan.Command, dir)
	if err != nil {
		return exitError, err
	}
	defer func() { _ = launcher.Close() }() // what it held goes with us in any case
	launcher.Keep, launcher.Network, launcher.Tracer, launcher.Env = o.outDir != "", plan.Network, tracer, o.env
	launcher.Memory = memory
	if plan.Network == report.NetworkAllow && os.Geteuid() == 0 {
		_, _ = fmt.Fprintln(stderr, "mcpaudit: warning: run as root with --network allow, the server reaches every service of this machine that trusts local connections: run as another user, or without --network allow")
	}
	plan.Canaries, plan.Dir = launcher.Canaries(), launcher.Dir()
	progress := terminal.NewProgress(stderr)
	plan.Progress = progress.Step
	r, err := audit.Run(ctx, plan, launcher)
	progress.Clear()
	if err != nil {
		return exitError, interrupted(err)
	}
	return conclude(o.judging, r, stdout)
}

// conclude prints and keeps the report.
func conclude(o judging, r report.Report, stdout io.Writer) (int, error) {
	if err := o.keep(r); err != nil {
		return exitError, err
	}
	if table := o.output == "table"; !table || !nothingSeen(r.Reason) {
		if err := write(stdout, o.output, r); err != nil {
			return exitError, err
		}
		if table && r.Verdict == report.VerdictInconclusive && r.Reason != report.ReasonNotTraced {
			return exitError, nil // the table says why
		}
	}
	switch {
	case r.Reason == report.ReasonNotTraced:
		return exitUntraced, nil
	case r.Verdict == report.VerdictPass:
		return 0, nil
	case r.Verdict == report.VerdictFail:
		return exitFindings, nil
	case r.Reason == report.ReasonTracerUnavailable:
		return exitTracer, errors.New(render.Escape(r.Message))
	default:
		return exitError, fmt.Errorf("inconclusive (%s): %s", r.Reason, render.Escape(r.Message))
	}
}

// nothingSeen reports whether the server was not even started: there is nothing
// to put into a table.
func nothingSeen(reason report.Reason) bool {
	return reason == report.ReasonTracerUnavailable || reason == report.ReasonSandboxFailed
}

// traceDir returns where the trace is written: the user's directory, which keeps it,
// or one of our own that goes with us.
func (o *judging) traceDir() (string, func(), error) {
	if o.outDir != "" {
		return o.outDir, func() {}, o.makeOutDir()
	}
	dir, err := scratch.New()
	if err != nil {
		return "", nil, err
	}
	return dir.Path, func() { _ = dir.Remove() }, nil // a temporary file more is no failure
}

func (o *judging) makeOutDir() error {
	if o.outDir == "" {
		return nil
	}
	if err := os.MkdirAll(o.outDir, 0o755); err != nil {
		return fmt.Errorf("--out-dir: %w", err)
	}
	return nil
}

// keep writes the files of --out-dir.
func (o *judging) keep(r report.Report) error {
	if o.outDir == "" {
		return nil
	}
	for name, value := range map[string]any{"report.json": r, "manifest.json": r.Manifest} {
		b, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(o.outDir, name), append(b, '\n'), 0o644); err != nil {
			return fmt.Errorf("--out-dir: %w", err)
		}
	}
	return nil
}

func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
