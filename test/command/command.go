// Package command is shared by the programs of test/ and hack/: a signal ends them, and an error
// is printed and makes the exit code 1.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

// Main runs a program with its command line arguments, and exits if it fails.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted") // instead of the failure that the signal caused
	}
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// SourceTree returns the root of the module that contains the working directory.
func SourceTree(ctx context.Context) (string, error) {
	mod, err := Output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return "", fmt.Errorf("find the source tree: %w", err)
	}
	if !filepath.IsAbs(mod) || mod == os.DevNull {
		return "", errors.New("find the source tree: the working directory is outside of it")
	}
	return filepath.Dir(mod), nil
}

// Output runs a command and returns its trimmed standard output. Errors include standard error.
func Output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("run %s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w", filepath.Base(name), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Cache returns a folder below MCPAUDIT_CACHE, by default ~/.cache/mcpaudit, and creates it.
func Cache(name string) (string, error) {
	cache := os.Getenv("MCPAUDIT_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache: %w", err)
		}
		cache = filepath.Join(user, "mcpaudit")
	}
	dir := filepath.Join(cache, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create the cache: %w", err)
	}
	return dir, nil
}

// PeakRSS returns the peak resident set size of a process in bytes: VmHWM of proc(5), as
// ru_maxrss of getrusage(2) includes the parent's.
func PeakRSS(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(status), "\nVmHWM:")
	var kib int
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); !found || err != nil {
		return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
	}
	return kib << 10, nil
}
