// Command mcpaudit audits an MCP server on the local machine: it runs it in a sandbox under a
// tracer, exercises what it advertises, and reports what it did. Of a remote server it reports
// the answers. Named kubectl-mcpaudit it is kubectl's plugin.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/cluster"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// The exit codes besides 0, and 1 for errors and inconclusive audits.
const (
	exitTracer   = 2 // the tracer was refused
	exitFindings = 3 // findings at or above the threshold
	exitUntraced = 4 // no such findings, but nothing was traced
)

// This program is also the tracer and the stages of the sandbox, which depend on the main
// thread.
func init() { runtime.LockOSThread() }

func main() {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := sandbox.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := shim.StandIn(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	version := build.Describe("mcpaudit", rules.Digest())
	root, args := newRoot(version), os.Args[1:]
	if cluster.Called(os.Args[0]) {
		root, args = cluster.Plugin(os.Args, version, time.Now)
	}
	code, err := cli.Run(ctx, root, args)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit:", err)
	}
	os.Exit(code)
}

func newRoot(version string) *cobra.Command {
	root := &cobra.Command{
		Use: "mcpaudit", Version: version,
		Long: `mcpaudit runs an MCP server in a sandbox and reports what it does.

REPORT.json is the report.json of --out-dir, the output of -o json, or an MCPAuditReport
as kubectl get -o json prints it; - is standard input.

Exit codes of an audit (run and connect):
  0  no findings at or above the threshold
  1  the audit failed, or was not completed (Inconclusive)
  2  the tracer was refused; the message names the fix
  3  findings at or above the threshold
  4  connect: no such findings, and nothing was traced (NotTraced)
diff: 0 no difference, 3 the reports differ. Other commands: 0 success, 1 error;
verify --help and verify-lock --help list their own.`,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newRun(), newConnect(), newLock(), newVerifyLock(), newDiff(), newShow(), newPush(), newPolicy(), newAttest(), newVerify(), newRules(),
		cluster.New(version, time.Now), cli.Version(version))
	return root
}
