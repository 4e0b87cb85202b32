// Command runner is the program of an audit Pod, under four names:
//
//	install  copies itself into the volume from which the server's container
//	         starts it, and closes the Pod's network (init container)
//	shim     is the entrypoint of the server's container
//	audit    traces and exercises the server, and prints the report
//	connect  exercises a server that runs elsewhere, untraced
//
// The manager builds the Pod (controllers/podspec) and knows these flags.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The shim's gate, the drop of privileges and the tracer need the main thread.
func init() { runtime.LockOSThread() }

// guise hides this process from the server, which sees all processes of the Pod; nil for no
// disguise.
var guise shim.Guise

// runtimeShim is the command line of the container runtime's process beside each container.
const runtimeShim = "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io"

func main() {
	guise = shim.NewGuise()
	if len(os.Args) > 1 && os.Args[1] == trace.PtraceStage {
		pose(runtimeShim)
	}
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := shim.StandIn(os.Args[1:]); ok {
		os.Exit(code)
	}
	hold = true
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := cli.Run(ctx, newRoot(), os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit-runner:", err)
	}
	os.Exit(code)
}

// pose sets the command line of this process. Failures do not matter.
func pose(command string) {
	if err := guise.Pose(command); err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit-runner:", err)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "runner", Short: "The program of an audit Pod"}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newInstall(), newShim(), newShimChild(), newAudit(), newConnect(), cli.Version(build.Describe("mcpaudit-runner", rules.Digest())))
	return root
}

// terminationLog adds the flag for the file of the termination message.
func terminationLog(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "termination-log", "/dev/termination-log", "file to write the summary to")
}
