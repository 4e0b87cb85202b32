package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/scratch"
)

func newRun() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "run [flags] PACKAGE [ARGUMENT...]|--config FILE [NAME]|-- COMMAND [ARGUMENT...]", Short: "Audit a server that this machine can start, or install",
		Long: "Audits a server that this machine can start, a package, or what a client is configured to start.\n" +
			"A package is installed for the audit, its install scripts are run in the sandbox, and it is\n" +
			"removed afterwards. PACKAGE is one of\n\n" +
			"  npm:NAME[@VERSION]\n" +
			"  pypi:NAME[==VERSION]\n" +
			"  registry:NAMESPACE/NAME[@VERSION]    a server of the MCP registry\n" +
			"  mcpb:FILE, mcpb:https://...          an MCP Bundle\n" +
			"  oci:NAME[:TAG|@DIGEST], oci:./PATH   a container image, an OCI layout or an archive of docker save\n\n" +
			"A COMMAND such as npx, uvx or docker run stands for the package or the image that it names.",
		Example: "  mcpaudit run -- node server.js\n  mcpaudit run npm:@modelcontextprotocol/server-filesystem /srv/data\n  mcpaudit run pypi:mcp-server-time==2026.10.19\n  mcpaudit run --config ~/.config/Claude/claude_desktop_config.json --all",
		Args: func(_ *cobra.Command, command []string) error {
			if len(command) == 0 && o.config == "" && !o.all {
				return errors.New("missing server: name its package, as in mcpaudit run npm:NAME, or put its command after --, as in mcpaudit run -- node server.js")
			}
			return nil
		},
		RunE: func(c *cobra.Command, command []string) error {
			if o.config != "" || o.all {
				return o.runConfigured(c.Context(), command, c.OutOrStdout(), c.ErrOrStderr())
			}
			return o.run(c.Context(), command, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().SetInterspersed(false) // later flags belong to the server's command
	o.flags(c)
	return c
}

func (o *options) run(ctx context.Context, command []string, stdout, stderr io.Writer) error {
	r, err := o.audit(ctx, command, stderr)
	if err != nil {
		return err
	}
	return o.conclude(r, stdout)
}

// audit audits the server of a command. A package that fails with the newest major version of a library is installed
// once more with an older one, unless the newest is what its client starts, or made it do something worth a finding.
func (o *options) audit(ctx context.Context, command []string, stderr io.Writer) (report.Report, error) {
	plan, err := o.plan(command)
	if err != nil {
		return report.Report{}, err
	}
	r, installed, err := o.auditWith(ctx, plan, "", stderr)
	if err != nil || installed == nil || plan.Exact || r.Reason != report.ReasonServerExited || len(r.Manifest.Tools)+len(r.Findings) > 0 {
		return r, err
	}
	older := installed.Older(r.Server.Stderr)
	if older == "" {
		return r, nil
	}
	again, _, err := o.auditWith(ctx, plan, older, stderr)
	if err != nil {
		r.Errors = append(r.Errors, fmt.Sprintf("the server needs an older library (%s), and could not be audited with one: %v", older, err))
		return r, ctx.Err()
	}
	return again, nil
}

// auditWith audits the server of a plan, with further requirements for its package. It returns what was installed.
func (o *options) auditWith(ctx context.Context, plan audit.Plan, besides string, stderr io.Writer) (r report.Report, installed *packages.Installed, err error) {
	progress, written := cli.NewProgress(stderr), plan.Command
	plan.Older = besides
	defer progress.Clear()
	of, remove, err := o.provide(ctx, &plan, besides, progress)
	if err != nil {
		return r, nil, err
	}
	defer remove()
	memory, err := o.memoryLimit()
	if err != nil {
		return r, nil, err
	}
	dir, removeTrace, err := o.traceDir()
	if err != nil {
		return r, nil, err
	}
	defer removeTrace()
	launcher, err := newLauncher(of, plan.Command, dir)
	if err != nil {
		return r, nil, err
	}
	defer func() { _ = launcher.Close() }() // we end anyway
	launcher.Keep, launcher.Network, launcher.Tracer, launcher.Env = o.outDir != "", plan.Network, o.tracer, plan.Env
	launcher.Memory, launcher.Named = memory, written
	_, _ = io.WriteString(stderr, warning(plan.Network, os.Geteuid()))
	plan.Decoys, plan.Dir = launcher.Decoys(), launcher.Dir()
	plan.Progress = progress.Step
	plan.Names = inputs.DrawNames(plan.Network == report.NetworkAllow)
	r, err = audit.Run(ctx, plan, launcher)
	return r, plan.Package, err
}

// warning returns a line about a server that gets more than a sandbox gives; "" for none.
func warning(network report.Network, uid int) string {
	if network != report.NetworkAllow || uid != 0 {
		return ""
	}
	return "mcpaudit: warning: as root with --network allow, the server can reach every service of this machine that trusts local connections: run as another user, or without --network allow\n"
}

// conclude keeps and prints the report. It returns an error with the exit code.
func (o *judging) conclude(r report.Report, stdout io.Writer) error {
	if err := o.keep(r); err != nil {
		return err
	}
	if table := o.output == "table"; !table || !nothingSeen(r.Reason) {
		if err := write(stdout, o.output, r); err != nil {
			return err
		}
		if table && r.Verdict == report.VerdictInconclusive && r.Reason != report.ReasonNotTraced {
			return cli.Exit(1, nil) // the table has the reason
		}
	}
	switch {
	case r.Reason == report.ReasonNotTraced:
		return cli.Exit(exitUntraced, nil)
	case r.Verdict == report.VerdictPass:
		return nil
	case r.Verdict == report.VerdictFail:
		return cli.Exit(exitFindings, nil)
	case r.Reason == report.ReasonTracerUnavailable:
		return cli.Exit(exitTracer, errors.New(r.Message))
	default:
		return fmt.Errorf("inconclusive (%s): %s", r.Reason, r.Message)
	}
}

// nothingSeen reports whether the server did not start, which leaves the table empty.
func nothingSeen(reason report.Reason) bool {
	return reason == report.ReasonTracerUnavailable || reason == report.ReasonSandboxFailed
}

// traceDir returns the directory for traces and a function that removes it: --out-dir, which
// stays, or a temporary one.
func (o *judging) traceDir() (string, func(), error) {
	if o.outDir != "" {
		return o.outDir, func() {}, o.makeOutDir()
	}
	dir, err := scratch.New()
	if err != nil {
		return "", nil, err
	}
	return dir.Path, func() { _ = dir.Remove() }, nil // a leftover temporary file is no failure
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

func (o *judging) keep(r report.Report) error {
	if o.outDir == "" {
		return nil
	}
	for name, value := range map[string]any{"report.json": r, "manifest.json": r.Manifest} {
		b, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := cli.Replace(filepath.Join(o.outDir, name), append(b, '\n')); err != nil {
			return fmt.Errorf("--out-dir: %w", err)
		}
	}
	return nil
}
