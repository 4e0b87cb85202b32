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

// Audit runs "mcpaudit run" with some options on a server's command, and returns the report
// as JSON. The exit code says what the verdict in it does.
func Audit(ctx context.Context, mcpaudit string, options, command, env []string) ([]byte, error) {
	arguments := append([]string{"run", "--output", "json"}, options...)
	for _, variable := range env {
		arguments = append(arguments, "--env", variable)
	}
	var said strings.Builder
	cmd := exec.CommandContext(ctx, mcpaudit, append(append(arguments, "--"), command...)...)
	cmd.Stderr, cmd.Cancel = &said, func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	raw, err := cmd.Output()
	if len(raw) == 0 {
		return nil, fmt.Errorf("audit: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return raw, nil
}

// Checkout returns the command of the server whose sources are in a directory, with what
// they need installed, and built.
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
