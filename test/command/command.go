// Package command has what the programs of test/ and hack/ share: a signal ends them, and an
// error is printed and makes the exit code 1.
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

// Main runs a program with the arguments of its command line. It returns unless that failed.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted") // whatever broke by it
	}
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// SourceTree returns the root of the module in whose folders the program was started.
func SourceTree(ctx context.Context) (string, error) {
	found, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the source tree: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(found))), nil
}
