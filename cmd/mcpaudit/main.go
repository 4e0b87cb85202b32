// Command mcpaudit audits an MCP server on the local machine: it runs it in a
// sandbox under a tracer, exercises what it advertises, and reports what it did. Of
// one that runs elsewhere it reports what it says. By the name kubectl-mcpaudit it is
// kubectl's plugin for the audits of a cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/cluster"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// The exit codes, besides 0: nothing at or above the threshold.
const (
	exitError    = 1 // the audit could not be done, or not to its end
	exitTracer   = 2 // the tracer was refused
	exitFindings = 3 // findings at or above the threshold
	exitUntraced = 4 // no such findings, but nothing was traced
)

// The tracer and the stages of the sandbox are this program, and their main
// thread is the one that counts.
func init() { runtime.LockOSThread() }

func main() {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := sandbox.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := start(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit:", err)
	}
	os.Exit(code)
}

// start runs the command line by the name that it was called by.
func start(ctx context.Context) (int, error) {
	if cluster.Called(os.Args[0]) {
		return cluster.Plugin(ctx, os.Args[0], os.Args[1:], program(os.Stdout, os.Stderr))
	}
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

func program(stdout, stderr io.Writer) cluster.Program {
	return cluster.Program{Name: "mcpaudit cluster", Version: version(), Stdout: stdout, Stderr: stderr}
}

func version() string {
	return build.Describe("mcpaudit", rules.Digest())
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	if len(args) == 0 {
		return exitError, errors.New("what to do? try: mcpaudit run -- COMMAND, or mcpaudit help")
	}
	for _, c := range commands() {
		if c.name == args[0] {
			if c.flags == nil && len(args) == 2 && asksHelp(args[1]) && c.name != "cluster" {
				return 0, explainCommand(stdout, c.name)
			}
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	switch {
	case args[0] == "--version":
		return versionCommand(ctx, nil, stdout, stderr)
	case asksHelp(args[0]):
		return 0, help(stdout)
	}
	return exitError, unknown(args[0])
}

func asksHelp(word string) bool { return word == "--help" || word == "-h" }

func clusterCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	return cluster.Main(ctx, args, program(stdout, stderr))
}

func versionCommand(_ context.Context, _ []string, stdout, _ io.Writer) (int, error) {
	_, err := fmt.Fprintln(stdout, version())
	return status(err), err
}

func status(err error) int {
	if err != nil {
		return exitError
	}
	return 0
}
