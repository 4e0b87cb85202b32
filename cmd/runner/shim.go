package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// shimChild is the hidden command of the process that becomes the server.
const shimChild = "shim-child"

// dialTimeout is how long the shim waits for the runner, whose image may still
// be on its way.
const dialTimeout = 10 * time.Minute

func runShim(ctx context.Context, args []string) (int, error) {
	f := pflag.NewFlagSet("shim", pflag.ContinueOnError)
	socket := f.String("socket", "", "unix socket of the runner")
	f.SetInterspersed(false)
	if err := f.Parse(args); err != nil {
		return shim.ExitOrphaned, err
	}
	self, err := os.Executable()
	if err != nil {
		return shim.ExitOrphaned, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return shim.Serve(ctx, *socket, self, append([]string{shimChild}, f.Args()...))
}

func runShimChild(_ context.Context, command []string) (int, error) {
	return shim.Child(command), nil
}
