package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/faketime"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// shimName is the program that the server's container starts.
const shimName = "mcpaudit-shim"

// runInstall is the init container. Nothing of the Pod starts when it fails.
func runInstall(_ context.Context, args []string) (int, error) {
	f := pflag.NewFlagSet("install", pflag.ContinueOnError)
	bin := f.String("bin", "", "directory to copy the shim to")
	network := f.String("network", string(report.NetworkSinkhole), "Sinkhole, Deny or Allow")
	if err := f.Parse(args); err != nil {
		return 1, err
	}
	if err := copySelf(filepath.Join(*bin, shimName)); err != nil {
		return 1, fmt.Errorf("install the shim: %w", err)
	}
	// Where there is none, the report says what was not seen for want of it.
	if library, err := faketime.Find(); err == nil {
		if err := install(library, filepath.Join(*bin, faketime.Name)); err != nil {
			return 1, fmt.Errorf("install libfaketime: %w", err)
		}
	}
	if err := closeNetwork(report.Network(*network)); err != nil {
		return 1, fmt.Errorf("close the network: %w", err)
	}
	return 0, nil
}

// closeNetwork does with the Pod's network what only NET_ADMIN may. Where the
// kernel cannot redirect, the runner notices and says so.
func closeNetwork(network report.Network) error {
	switch network {
	case report.NetworkAllow:
		return nil
	case report.NetworkDeny:
		return sinkhole.Close()
	case report.NetworkSinkhole:
		if err := sinkhole.Close(); err != nil {
			return err
		}
		if err := sinkhole.Redirect(); err != nil {
			fmt.Fprintln(os.Stderr, "mcpaudit-runner:", err)
		}
		return nil
	default:
		return fmt.Errorf("--network %q: it is Sinkhole, Deny or Allow", network)
	}
}

// copySelf copies this program, which is static, so that it runs in any image.
func copySelf(to string) error { return install("/proc/self/exe", to) }

// install copies a file for every uid to execute.
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
