// Command mcpconformance runs the conformance suite of the Model Context Protocol
// (npm: @modelcontextprotocol/conformance) and prints what it says of us.
//
// Its server scenarios are run against the reference server "everything" over
// streamable HTTP twice: as it is, and in the sandbox under each tracer, with the
// suite's connections made within the server's network namespace. What differs is
// our fault, and fails; what everything fails both times is its own (most of the
// scenarios want a server made for them). Its client scenarios are run against
// mcpaudit connect; those about OAuth are not, for the probe has no user to ask.
//
// It installs the suite, the Node.js that it wants, and the server by npm into the
// cache, so that it needs the network; no part of make test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/test/command"
)

func init() { runtime.LockOSThread() } // for the stages

func main() {
	for _, stage := range []func([]string) (int, bool){ptrace.Stage, sandbox.Stage} {
		if code, ok := stage(os.Args[1:]); ok {
			os.Exit(code)
		}
	}
	command.Main("mcpconformance", run)
}

func run(ctx context.Context, _ []string) error {
	mcpaudit := flag.String("mcpaudit", "", "the program whose connect command is the client under test; none: no client scenarios")
	flag.Parse()
	s, err := install(ctx)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	failed := s.servers(ctx)
	if *mcpaudit != "" {
		failed = errors.Join(failed, s.clients(ctx, *mcpaudit))
	}
	return failed
}
