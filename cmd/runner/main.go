// Command runner is the program of an audit Pod, under four names:
//
//	install  copies itself into the volume from which the server's container
//	         starts it, and closes the Pod's network (init container)
//	shim     is the entrypoint of the server's container
//	audit    watches the server, exercises it, and prints the report
//	connect  does so with a server that runs elsewhere, which nobody watches
//
// The manager builds the Pod (controllers/podspec) and knows these flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// The gate of the shim, the drop of privileges and the tracer need the main
// thread.
func init() { runtime.LockOSThread() }

func main() {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	hold = true
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := execute(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit-runner:", err)
	}
	os.Exit(code)
}

func execute(ctx context.Context, args []string) (int, error) {
	commands := map[string]func(context.Context, []string) (int, error){
		"install": runInstall, "shim": runShim, shimChild: runShimChild, "audit": runAudit, "connect": runConnect, "version": version,
	}
	if len(args) == 0 {
		return 1, errors.New("what to do? one of install, shim, audit, connect, version")
	}
	run, ok := commands[args[0]]
	if !ok {
		return 1, fmt.Errorf("unknown command %q: it is one of install, shim, audit, connect, version", args[0])
	}
	return run(ctx, args[1:])
}

func version(context.Context, []string) (int, error) {
	_, err := fmt.Println(build.Describe("mcpaudit-runner", rules.Digest()))
	return 0, err
}
