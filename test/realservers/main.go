// Command realservers audits published MCP servers, at pinned versions, and
// prints what the engine made of each: how much of it was exercised, how many
// lines of trace, how many of them it did not understand or had no room for, and
// the findings. It fails when a line was lost; whether a finding is right is for
// a reader to say.
//
// With -reference it audits the reference servers alone, the one that has every
// feature over each transport, and fails as well where less than 90 % of the
// branches of the input schemas were taken, or something was not exercised.
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

	"github.com/mcpaudit/mcpaudit/api/plan"
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
	reference := flag.Bool("reference", false, "audit the reference servers only, and hold them to their coverage")
	only := flag.String("only", "", "audit the servers whose name contains this")
	tracer := flag.String("tracer", string(plan.TracerAuto), "Auto, Strace or Ptrace")
	flag.Parse()
	if err := run(*only, *reference, plan.Tracer(*tracer)); err != nil {
		fmt.Fprintln(os.Stderr, "realservers:", err)
		os.Exit(1)
	}
}

func run(only string, reference bool, tracer plan.Tracer) error {
	dir, err := cache()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	head := "server\ttransport\ttools\tresources\ttemplates\tprompts\tbranches\tcalls accepted\tseconds\tlines\tunparsed\tdropped\tfindings\tverdict\t\n"
	if _, err := fmt.Fprint(table, head); err != nil {
		return err
	}
	var details strings.Builder
	lost, short := 0, 0
	for _, s := range servers {
		if reference != s.reference && reference || !strings.Contains(s.source, only) {
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
		c := r.Coverage
		if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%d\t%d\t%d\t%s\t%s (%s)\t\n", s.source, r.Server.Transport,
			exercised(c.Tools), exercised(c.Resources), exercised(c.ResourceTemplates), exercised(c.Prompts), share(c.Branches), share(c.Calls),
			r.EndTime.Sub(r.StartTime.Time).Seconds(), stats.Lines, stats.Unparsed, dropped, count(r.Findings), r.Verdict, r.Reason); err != nil {
			return err
		}
		if s.reference && !covered(c) {
			short++
			fmt.Fprintf(&details, "%s over %s: not covered\n", s.source, r.Server.Transport)
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
	if short > 0 {
		return fmt.Errorf("%d reference servers were not exercised as they should be", short)
	}
	return nil
}

// minBranches is how many of the branches of a reference server's schemas have to
// be taken, in percent.
const minBranches = 90

// covered reports whether an audit exercised everything, and the schemas' branches.
func covered(c report.Coverage) bool {
	for _, e := range []report.Exercised{c.Tools, c.Resources, c.ResourceTemplates, c.Prompts} {
		if e.Called < e.Listed {
			return false
		}
	}
	return c.Branches.Percent() >= minBranches
}

// exercised returns how much of one kind was accepted: "9/9", with "called 8" where not
// everything was.
func exercised(e report.Exercised) string {
	if e.Called < e.Listed {
		return fmt.Sprintf("%d/%d, called %d", e.Accepted, e.Listed, e.Called)
	}
	return fmt.Sprintf("%d/%d", e.Accepted, e.Listed)
}

func share(s report.Share) string {
	if s.Total == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d %d%%", s.Done, s.Total, s.Percent())
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

// count returns how many findings there are of each severity: "1 High, 2 Medium".
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
func (s server) audit(command []string, tracer plan.Tracer) (report.Report, trace.Stats, error) {
	dir, err := os.MkdirTemp("", "realservers-")
	if err != nil {
		return report.Report{}, trace.Stats{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	launcher, err := sandbox.New(command, dir)
	if err != nil {
		return report.Report{}, trace.Stats{}, err
	}
	defer func() { _ = launcher.Close() }() // what it held goes with us in any case
	launcher.Tracer = tracer
	watched := &counted{Launcher: launcher}
	r, err := audit.Run(context.Background(), audit.Plan{
		Command: command, FailOn: report.SeverityHigh, Timeout: timeout, Canaries: launcher.Canaries(), Dir: launcher.Dir(),
		Transport: s.transport,
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

// cache returns where the servers are installed.
func cache() (string, error) {
	dir := os.Getenv("MCPAUDIT_CACHE")
	if dir == "" {
		return "", errors.New("MCPAUDIT_CACHE is not set: run make real-servers")
	}
	dir = filepath.Join(dir, "real-servers")
	return dir, os.MkdirAll(dir, 0o755)
}
