package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// run is the command of that name. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o options
	command, err := o.parse(args)
	if err != nil {
		return exitError, err
	}
	if o.help {
		return 0, help(stdout)
	}
	baseline, err := o.loadBaseline()
	if err != nil {
		return exitError, err
	}
	dir, remove, err := o.traceDir()
	if err != nil {
		return exitError, err
	}
	defer remove()
	launcher, err := sandbox.New(command, dir)
	if err != nil {
		return exitError, err
	}
	defer func() { _ = launcher.Close() }() // what it held goes with us in any case
	launcher.Keep = o.outDir != ""
	if launcher.Network, err = o.sandboxNetwork(); err != nil {
		return exitError, err
	}
	if launcher.Tracer, err = o.backend(); err != nil {
		return exitError, err
	}
	failOn, err := o.threshold()
	if err != nil {
		return exitError, err
	}
	progress := newProgress(stderr)
	r, err := audit.Run(ctx, audit.Plan{
		Command: command, Canaries: launcher.Canaries(), FailOn: failOn, Timeout: o.timeout,
		Baseline: baseline, Network: launcher.Network, ShowNoise: o.noise, Progress: progress.step,
	}, launcher)
	progress.clear()
	if err != nil {
		return exitError, interrupted(err)
	}
	return conclude(o, r, stdout)
}

// conclude prints and keeps the report.
func conclude(o options, r report.Report, stdout io.Writer) (int, error) {
	if err := o.keep(r); err != nil {
		return exitError, err
	}
	switch {
	case o.output == "json":
		if err := render.JSON(stdout, r); err != nil {
			return exitError, err
		}
	case !nothingSeen(r.Reason):
		if err := render.Table(stdout, r, colourful(stdout)); err != nil {
			return exitError, err
		}
		if r.Verdict == report.VerdictInconclusive {
			return exitError, nil // the table says why
		}
	}
	switch {
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

// nothingSeen tells whether the server was not even started: there is nothing
// to put into a table.
func nothingSeen(reason report.Reason) bool {
	return reason == report.ReasonTracerUnavailable || reason == report.ReasonSandboxFailed
}

// traceDir is where the trace is written: the user's directory, which keeps it,
// or one of our own that goes with us.
func (o *options) traceDir() (string, func(), error) {
	if o.outDir != "" {
		if err := os.MkdirAll(o.outDir, 0o755); err != nil {
			return "", nil, fmt.Errorf("--out-dir: %w", err)
		}
		return o.outDir, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "mcpaudit-trace-")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the trace: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil // a temporary file more is no failure
}

// keep writes the files of --out-dir.
func (o *options) keep(r report.Report) error {
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

// colourful tells whether colours are wanted: on a terminal, unless NO_COLOR is
// set (no-color.org).
func colourful(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
