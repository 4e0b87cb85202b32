// Command mcpaudit audits an MCP server on the local machine: it runs it in a
// sandbox under a tracer, exercises what it advertises, and reports what it did. Of
// one that runs elsewhere it reports what it says. By the name kubectl-mcpaudit it is
// kubectl's plugin for the audits of a cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/cluster"
	"github.com/mcpaudit/mcpaudit/runner/build"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
)

// The exit codes, besides 0: nothing at or above the threshold.
const (
	exitError    = 1 // the audit could not be done, or not to its end
	exitTracer   = 2 // the tracer was refused
	exitFindings = 3 // findings at or above the threshold
	exitUntraced = 4 // no such findings, but nothing was traced
)

const usage = `mcpaudit runs an MCP server in a sandbox and reports what it does.

Usage:
  mcpaudit run [flags] -- COMMAND [ARGUMENT...]
  mcpaudit connect [flags] URL
  mcpaudit diff [-o json] EARLIER.json LATER.json
  mcpaudit show [-o FORMAT] REPORT.json
  mcpaudit push --url URL [-o FORMAT] REPORT.json
  mcpaudit policy [--type TYPE] [flags] REPORT.json
  mcpaudit attest REPORT.json --image NAME@sha256:DIGEST [--key FILE]
  mcpaudit verify ENVELOPE.json --key FILE [--image NAME@sha256:DIGEST]
  mcpaudit rules [ID]
  mcpaudit cluster COMMAND
  mcpaudit version
  mcpaudit help

rules lists what is looked for, or explains the rule of a finding.
connect is for a server that runs elsewhere. Nothing of it is traced: only its
manifest and its answers are judged, and it is never passed.

diff shows how the server of one report differs from that of an earlier one, in what
it advertises and in what it did. The reports are those of --out-dir or -o json.
show writes such a report in another format of -o; - is standard input. push posts it
to a webhook.

policy makes of a report the policy under which the server can do what it was seen to do,
and little else: seccomp, securityContext, network policies, ToolHive.

attest prints the in-toto statement of a report about an image, in a signed DSSE
envelope if there is a key; verify checks such an envelope (docs/attestations.md).

cluster is for audits that the operator makes in a Kubernetes cluster: list, show, run,
logs, diff, approve. kubectl mcpaudit is the same; mcpaudit cluster help is its help.

Flags of run:
`

const exits = `
Exit codes:
  0  nothing at or above the threshold was found
  1  the audit could not be done, or not to its end (Inconclusive)
  2  the tracer was refused; the message says what to do
  3  findings at or above the threshold; diff: the two differ
  verify: 0 signed and a Pass, 3 signed and a Fail, 1 signed and Inconclusive, or refused
  4  connect: no such findings, and nothing was traced (NotTraced)
`

// The tracer and the stages of the sandbox are this program, and their main
// thread is the one that counts.
func init() { runtime.LockOSThread() }

func main() {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := sandbox.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := start(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpaudit:", err)
	}
	os.Exit(code)
}

// start runs the command line by the name that it was called by.
func start(ctx context.Context) (int, error) {
	if cluster.Called(os.Args[0]) {
		return cluster.Plugin(ctx, os.Args[0], os.Args[1:], program(os.Stdout, os.Stderr))
	}
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

func program(stdout, stderr io.Writer) cluster.Program {
	return cluster.Program{Name: "mcpaudit cluster", Version: version(), Stdout: stdout, Stderr: stderr}
}

func version() string {
	return build.Describe("mcpaudit", rules.Digest())
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	if len(args) == 0 {
		return exitError, errors.New("what to do? try: mcpaudit run -- COMMAND, or mcpaudit help")
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	switch args[0] {
	case "--version":
		return versionCommand(ctx, nil, stdout, stderr)
	case "--help", "-h":
		return 0, help(stdout)
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return exitError, fmt.Errorf("unknown command %q: it is one of %s", args[0], strings.Join(names, ", "))
}

// command is one of the program's. run returns the exit code.
type command struct {
	name string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error)
}

// commands are all of them, in the order in which help names them.
func commands() []command {
	return []command{
		{"run", run},
		{"connect", connect},
		{"diff", diff},
		{"show", show},
		{"push", push},
		{"policy", policy},
		{"attest", attest},
		{"verify", verify},
		{"rules", rulesCommand},
		{"cluster", clusterCommand},
		{"version", versionCommand},
		{"help", helpCommand},
	}
}

func clusterCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	return cluster.Main(ctx, args, program(stdout, stderr))
}

func versionCommand(_ context.Context, _ []string, stdout, _ io.Writer) (int, error) {
	_, err := fmt.Fprintln(stdout, version())
	return status(err), err
}

func helpCommand(_ context.Context, _ []string, stdout, _ io.Writer) (int, error) {
	err := help(stdout)
	return status(err), err
}

func status(err error) int {
	if err != nil {
		return exitError
	}
	return 0
}

func help(w io.Writer) error {
	_, err := fmt.Fprint(w, usage, new(options).flags().FlagUsages(), "\nFlags of connect:\n", new(connection).flags().FlagUsages(),
		"\nFlags of push:\n", new(pushing).flags().FlagUsages(), "\nFlags of policy:\n", new(making).flags().FlagUsages(), exits)
	return err
}
