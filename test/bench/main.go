// Command bench measures the cost of an audit on this machine: how much a tracer slows down an
// honest server, and the speed and memory of the reader of a long trace. How long whole audits take
// is in the table of make reference-servers.
//
// The slowdown is printed as ratios. Both sides of a ratio come from alternating rounds of one run;
// each is the minimum over all rounds, which other load affects least. A second untraced side shows
// the remaining noise. No result fails the command.
//
//	bench [--rounds N] [--calls N] [--lines N]
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
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/command"
)

func init() { runtime.LockOSThread() } // this program is also the tracer

func main() {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if run, ok := stages[stageOf(os.Args)]; ok {
		os.Exit(status(run(os.Args[2:])))
	}
	command.Main("bench", run)
}

// stages has the hidden subcommands with which this program starts itself.
var stages = map[string]func(args []string) error{stageDecode: decode, stageOpens: opens}

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
	calls := flags.Int("calls", 30, "most calls of a tool per start")
	lines := flags.Int("lines", 5_000_000, "lines of the long trace")
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
	defer func() { _ = os.RemoveAll(dir) }() // a leftover temporary file is no failure

	if err := slowdown(ctx, dir, *rounds, *calls); err != nil {
		return fmt.Errorf("measure the slowdown: %w", err)
	}
	if err := memory(ctx, os.Stdout, dir, *lines); err != nil {
		return fmt.Errorf("measure the memory: %w", err)
	}
	return nil
}

// slowdown measures the servers that this machine can run, and prints their ratios.
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
		return nil // the reasons were printed
	}
	if err := measure(ctx, servers, filepath.Join(dir, "trace.txt"), rounds, calls); err != nil {
		return err
	}
	fmt.Printf("\nSlowdown by tracing, with strace %s and with our own tracer: ratio to untraced, minimum over minimum of interleaved rounds (%d, of up to %d calls each).\n",
		version, rounds, calls)
	fmt.Print("The control is a second untraced side: its difference from 1 is noise.\n\n")
	return printRatios(os.Stdout, servers)
}
