package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// shimChild is the command of the process that becomes the server.
const shimChild = "shim-child"

// dialTimeout bounds the shim's wait for the runner, whose image may still be pulled.
const dialTimeout = 10 * time.Minute

func newShim() *cobra.Command {
	var socket string
	c := &cobra.Command{
		Use: "shim --socket PATH [flags] -- COMMAND [ARGUMENT...]", Short: "Run the server under the runner's control", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, command []string) error {
			pose(shimName + " -- " + strings.Join(command, " "))
			self, err := os.Executable()
			if err != nil {
				return cli.Exit(shim.ExitOrphaned, err)
			}
			ctx, cancel := context.WithTimeout(c.Context(), dialTimeout)
			defer cancel()
			return cli.Exit(shim.Serve(ctx, socket, self, append([]string{shimChild}, command...)))
		},
	}
	c.Flags().StringVar(&socket, "socket", "", "unix socket of the runner")
	c.Flags().SetInterspersed(false)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.Exit(shim.ExitOrphaned, err) })
	return c
}

func newShimChild() *cobra.Command {
	return &cobra.Command{
		Use: shimChild, Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, command []string) error { return cli.Exit(shim.Child(command), nil) },
	}
}
