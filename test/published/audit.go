package published

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/packages"
)

// Audit runs "mcpaudit run" with options on a target: a package with arguments, or a server's command after "--". It
// returns the report as JSON, and ignores the exit code, which repeats the verdict.
func Audit(ctx context.Context, mcpaudit string, options, target, env []string) ([]byte, error) {
	arguments := append([]string{"run", "--output", "json"}, options...)
	for _, variable := range env {
		arguments = append(arguments, "--env", variable)
	}
	var said strings.Builder
	cmd := exec.CommandContext(ctx, mcpaudit, append(arguments, target...)...)
	cmd.Stderr, cmd.Cancel = &said, func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	raw, err := cmd.Output()
	if len(raw) == 0 {
		return nil, fmt.Errorf("audit: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return raw, nil
}

// Checkout builds the server whose sources are in a directory, and returns its command.
func (s Server) Checkout(dir string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	checkout, err := packages.Checkout(dir)
	if err != nil {
		return nil, err
	}
	command, err := checkout.Command(s.program)
	return append(command, s.Args...), err
}
