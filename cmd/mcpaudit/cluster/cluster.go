// Package cluster is the command line for audits in a cluster: `kubectl mcpaudit` and `mcpaudit
// cluster`, which are the same. It reads MCPServerAudits and their reports, and creates, pins
// and deletes audits. No audit depends on it: the operator does the rest.
//
// It only uses client-go's REST client: with all typed clients of Kubernetes the program would
// be twice as large. Texts from servers are printed through package render.
package cluster

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The exit codes besides 0 and 1.
const (
	exitFail         = 3
	exitInconclusive = 4
)

// The plugin's file name, and that of its shell completion.
const (
	plugin    = "kubectl-mcpaudit"
	completer = "kubectl_complete-mcpaudit"
)

func baseName(program string) string { return strings.TrimSuffix(filepath.Base(program), ".exe") }

// Called reports whether a program was started as kubectl's plugin.
func Called(program string) bool {
	name := baseName(program)
	return name == plugin || name == completer
}

// Plugin returns the commands and arguments of kubectl's plugin.
func Plugin(args []string, version string, now func() time.Time) (*cobra.Command, []string) {
	root := newTree("kubectl mcpaudit", version, now)
	root.Use = plugin
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl mcpaudit"}
	root.CompletionOptions.DisableDefaultCmd = true // kubectl has its own
	if baseName(args[0]) == completer {
		return root, append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return root, args[1:]
}

// New returns the commands of mcpaudit cluster.
func New(version string, now func() time.Time) *cobra.Command {
	return newTree("mcpaudit cluster", version, now)
}

// session is one run of the program.
type session struct {
	// name is the text that users type before each command.
	name       string
	root       *cobra.Command
	connection connection
	now        func() time.Time
}

func newTree(name, version string, now func() time.Time) *cobra.Command {
	s := &session{name: name, now: now}
	s.root = &cobra.Command{
		Use: "cluster", Short: "Show and create audits in a cluster, as kubectl mcpaudit",
		Long: `Show and create audits of MCP servers in a cluster.

--as, --token, --server and the other connection flags of kubectl work as well.

Exit codes:
  0  success; run: Pass; diff: no difference
  1  error
  3  run: Fail; diff: there are differences
  4  run: Inconclusive, something could not be observed`,
		Example: s.examples("list -A", "show notes -n team", "run --image registry.example/notes:1.4 --rm", "approve notes > pin.yaml"),
	}
	s.root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	s.connection.flags(s.root.PersistentFlags())
	s.root.AddCommand(s.listCommand(), s.showCommand(), s.runCommand(), s.logsCommand(), s.diffCommand(), s.approveCommand(), cli.Version(version))
	return s.root
}

func (s *session) examples(commands ...string) string {
	return "  " + s.name + " " + strings.Join(commands, "\n  "+s.name+" ")
}

// connected returns the RunE of a command that talks to the API server.
func (s *session) connected(run func(ctx context.Context, a *api, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		a, err := s.connection.open(s)
		if err != nil {
			return err
		}
		return run(c.Context(), a, args)
	}
}

func (s *session) stdout() io.Writer { return s.root.OutOrStdout() }
func (s *session) stderr() io.Writer { return s.root.ErrOrStderr() }

func (s *session) colour() bool { return cli.Colours(s.stdout()) }

// note writes a message for people to stderr.
func (s *session) note(format string, args ...any) {
	_, _ = fmt.Fprintf(s.stderr(), "%s\n", render.Escape(fmt.Sprintf(format, args...))) // nothing depends on it
}

// completionTimeout bounds shell completion.
const completionTimeout = 3 * time.Second

// completeAudit completes the first argument with the audits of the namespace.
func (s *session) completeAudit(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	var all []string
	if a, err := s.connection.open(s); err == nil && len(args) == 0 {
		ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
		defer cancel()
		objects, _ := a.metadata(ctx, auditResource, "") // offer nothing on errors
		for _, object := range objects {
			if strings.HasPrefix(object.Name, word) {
				all = append(all, object.Name)
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
