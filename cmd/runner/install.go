package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// shimName is the program that the server's container starts, a common name for one.
const shimName = "tini"

// newInstall is the command of the init container. If it fails, the Pod does not start.
func newInstall() *cobra.Command {
	var bin string
	var network report.Network
	c := &cobra.Command{
		Use: "install", Short: "Copy the shim into a volume, and close the network of the Pod", Args: cli.Args(0, 0),
		RunE: func(*cobra.Command, []string) error { return runInstall(bin, network) },
	}
	c.Flags().StringVar(&bin, "bin", "", "directory to copy the shim to")
	words := []string{"Sinkhole", "Deny", "Allow"}
	cli.Enum(c, &network, cli.Flag{Name: "network", Default: words[0], Usage: strings.Join(words, ", ")}, words, cli.Named(report.Networks))
	return c
}

func runInstall(bin string, network report.Network) error {
	if err := copySelf(filepath.Join(bin, shimName)); err != nil {
		return fmt.Errorf("install the shim: %w", err)
	}
	if err := closeNetwork(network); err != nil {
		return fmt.Errorf("close the network: %w", err)
	}
	return nil
}

// closeNetwork closes or redirects the Pod's network, which needs NET_ADMIN. The runner reports
// kernels that cannot redirect.
func closeNetwork(network report.Network) error {
	switch network {
	case report.NetworkDeny:
		return sinkhole.Close()
	case report.NetworkSinkhole:
		if err := sinkhole.Close(); err != nil {
			return err
		}
		if err := sinkhole.Redirect(); err != nil {
			fmt.Fprintln(os.Stderr, "mcpaudit-runner:", err)
		}
	}
	return nil
}

// copySelf copies this static program, which runs in any image.
func copySelf(to string) error { return install("/proc/self/exe", to) }

// install copies a file and makes it executable for every uid.
func install(name, to string) error {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Chmod(to, 0o555)
}
