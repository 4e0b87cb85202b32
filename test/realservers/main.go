// Command realservers audits published MCP servers, at pinned versions, and
// prints what the engine made of each: how many lines of trace, how many of them
// it did not understand or had no room for, and the findings. It fails when a
// line was lost; whether a finding is right is for a reader to say.
//
// It installs them by npm, pip and go into the cache, so that it needs the
// network; no part of make test. Servers that want a key get one that is no good.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// timeout is for one audit.
const timeout = 4 * time.Minute

func init() { runtime.LockOSThread() }

func main() {
	for _, stage := range []func([]string) (int, bool){ptrace.Stage, sandbox.Stage} {
		if code, ok := stage(os.Args[1:]); ok {
			os.Exit(code)
		}
	}
	only := flag.String("only", "", "audit the servers whose name contains this")
	tracer := flag.String("tracer", string(trace.Auto), "Auto, Strace or Ptrace")
	flag.Parse()
	if err := run(*only, trace.Backend(*tracer)); err != nil {
		fmt.Fprintln(os.Stderr, "realservers:", err)
		os.Exit(1)
	}
}

func run(only string, tracer trace.Backend) error {
	dir, err := cache()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	head := "server\truntime\ttools\tlines\tunparsed\tdropped\tfindings\tverdict\t\n"
	if _, err := fmt.Fprint(table, head); err != nil {
		return err
	}
	var details strings.Builder
	lost := 0
	for _, s := range servers {
		if !strings.Contains(s.source, only) {
			continue
		}
		command, err := s.install(dir)
		if err != nil {
			return fmt.Errorf("install %s: %w", s.source, err)
		}
		r, stats, err := s.audit(command, tracer)
		if err != nil {
			return fmt.Errorf("audit %s: %w", s.source, err)
		}
		dropped := stats.Cut + stats.Dropped
		lost += stats.Unparsed + dropped
		if _, err := fmt.Fprintf(table, "%s\t%s\t%d/%d\t%d\t%d\t%d\t%s\t%s (%s)\t\n", s.source, s.runtime, r.Coverage.Tools.Accepted,
			r.Coverage.Tools.Listed, stats.Lines, stats.Unparsed, dropped, count(r.Findings), r.Verdict, r.Reason); err != nil {
			return err
		}
		explain(&details, s.source, r, stats)
		fmt.Fprintf(os.Stderr, "%s: %s (%s)\n", s.source, r.Verdict, r.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Print("\n", details.String())
	if lost > 0 {
		return fmt.Errorf("%d lines were not understood or dropped", lost)
	}
	return nil
}

// explain writes what a reader has to judge.
func explain(b *strings.Builder, source string, r report.Report, stats trace.Stats) {
	if r.Verdict != report.VerdictPass {
		fmt.Fprintf(b, "%s: %s\n", source, render.Escape(r.Message))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(b, "%s: %s %s: %s\n", source, f.Rule, f.Severity, render.Escape(f.Message))
	}
	if stats.Unparsed > 0 {
		fmt.Fprintf(b, "%s: not understood: %s\n", source, render.Escape(stats.Sample))
	}
}

// count is how many findings there are of each severity: "1 High, 2 Medium".
func count(findings []report.Finding) string {
	var parts []string
	for _, severity := range []report.Severity{
		report.SeverityCritical, report.SeverityHigh, report.SeverityMedium, report.SeverityLow, report.SeverityInfo,
	} {
		n := 0
		for _, f := range findings {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// audit runs one server in the sandbox of the command line.
func (s server) audit(command []string, tracer trace.Backend) (report.Report, trace.Stats, error) {
	dir, err := os.MkdirTemp("", "realservers-")
	if err != nil {
		return report.Report{}, trace.Stats{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	launcher, err := sandbox.New(command, dir)
	if err != nil {
		return report.Report{}, trace.Stats{}, err
	}
	launcher.Tracer = tracer
	watched := &counted{Launcher: launcher}
	r, err := audit.Run(context.Background(), audit.Plan{
		Command: command, FailOn: report.SeverityHigh, Timeout: timeout, Canaries: launcher.Canaries(),
	}, watched)
	return r, watched.stats(), err
}

// counted is a launcher that keeps the traces of what it launched.
type counted struct {
	audit.Launcher
	traces []*trace.Session
}

func (c *counted) Launch(ctx context.Context, how audit.Start) (audit.Process, error) {
	process, err := c.Launcher.Launch(ctx, how)
	if err == nil {
		c.traces = append(c.traces, process.Trace())
	}
	return process, err
}

func (c *counted) stats() trace.Stats {
	var sum trace.Stats
	for _, session := range c.traces {
		s := session.Stats()
		sum.Lines += s.Lines
		sum.Unparsed += s.Unparsed
		sum.Cut += s.Cut
		sum.Dropped += s.Dropped
		if sum.Sample == "" {
			sum.Sample = s.Sample
		}
	}
	return sum
}

// cache is where the servers are installed.
func cache() (string, error) {
	dir := os.Getenv("MCPAUDIT_CACHE")
	if dir == "" {
		return "", errors.New("MCPAUDIT_CACHE is not set: run make real-servers")
	}
	dir = filepath.Join(dir, "real-servers")
	return dir, os.MkdirAll(dir, 0o755)
}
