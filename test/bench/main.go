// Command bench measures what an audit costs, on the machine that it runs on:
// by how much the tracer slows an honest server down, how many calls the probe
// makes of it, how long the audit of a published server takes, and how fast the
// reader of a long trace is and how much memory it needs.
//
// Times are printed as ratios, but for the throughput of the reader and the time of
// whole audits, which have nothing to be held against. Both sides of a ratio come from the same
// run, from rounds that take turns, in namespaces of the same kind; each side
// is the minimum over all rounds, which other load on the machine disturbs
// least. A second untraced side shows what is left of that disturbance. Nothing
// here passes or fails by a number.
//
//	bench [--rounds N] [--calls N] [--lines N] [--audits=false]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/command"
)

func init() { runtime.LockOSThread() } // for the tracer, which is this program, too

func main() {
	for _, stage := range []func([]string) (int, bool){ptrace.Stage, sandbox.Stage} {
		if code, ok := stage(os.Args[1:]); ok {
			os.Exit(code)
		}
	}
	if run, ok := stages[stageOf(os.Args)]; ok {
		os.Exit(status(run(os.Args[2:])))
	}
	command.Main("bench", run)
}

// stages has what this program does when it starts itself again: hidden
// subcommands.
var stages = map[string]func(args []string) error{stageBox: box, stageServer: become, stageDecode: decode, stageOpens: opens}

func stageOf(args []string) string {
	if len(args) < 2 {
		return ""
	}
	return args[1]
}

func status(err error) int {
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	rounds := flags.Int("rounds", 7, "starts of each server on each side")
	calls := flags.Int("calls", 30, "tool calls per start")
	lines := flags.Int("lines", 5_000_000, "lines of the long trace")
	whole := flags.Bool("audits", true, "audit the reference servers, which npm installs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *calls < 1 || *lines < 10 {
		return errors.New("--rounds and --calls must be at least 1, --lines at least 10")
	}
	dir, err := os.MkdirTemp("", "mcpaudit-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary file more is no failure

	if err := slowdown(ctx, dir, *rounds, *calls); err != nil {
		return fmt.Errorf("measure the slowdown: %w", err)
	}
	if *whole {
		if err := audits(ctx, os.Stdout, dir); err != nil {
			return fmt.Errorf("measure whole audits: %w", err)
		}
	}
	if err := memory(ctx, os.Stdout, dir, *lines); err != nil {
		return fmt.Errorf("measure the memory: %w", err)
	}
	return nil
}

// slowdown measures the servers that this machine can run, and prints the
// table of their ratios.
func slowdown(ctx context.Context, dir string, rounds, calls int) error {
	version, err := trace.Version(ctx)
	if err != nil {
		fmt.Printf("slowdown left out: %v\n", err)
		return nil
	}
	var servers []*server
	for _, r := range recipes {
		s, err := r.prepare(ctx, filepath.Join(dir, r.name))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Printf("%s left out: %v\n", r.name, err)
			continue
		}
		servers = append(servers, &server{name: r.name, launch: s, best: make([]times, len(sides))})
	}
	if len(servers) == 0 {
		return nil // each has said why
	}
	if err := measure(ctx, servers, filepath.Join(dir, "trace.txt"), rounds, calls); err != nil {
		return err
	}
	fmt.Printf("\nSlowdown by tracing, with strace %s and with our own tracer: ratio to untraced, minimum over minimum of interleaved rounds (%d, of %d calls each).\n",
		version, rounds, calls)
	fmt.Print("The control is a second untraced side: what it differs from 1 by is noise.\n\n")
	if err := printRatios(os.Stdout, servers); err != nil {
		return err
	}
	return pace(ctx, os.Stdout, probeable(servers), filepath.Join(dir, "trace.txt"), min(rounds, paceMost))
}
