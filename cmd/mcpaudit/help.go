package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// command is one of the program's. run returns the exit code.
type command struct {
	name string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error)
	// takes are its arguments, and about what it is for, in a line of the help.
	takes, about string
	// more is said where its flags are: what they do not say.
	more  string
	flags func() *pflag.FlagSet
}

// commands are all of them, in the order in which help names them.
func commands() []command {
	return []command{
		{"run", run, "[flags] -- COMMAND [ARGUMENT...]", "audit a server that this machine can start", "", new(options).flags},
		{"connect", connect, "[flags] URL", "judge what a server that runs elsewhere says", `
Nothing of it is traced: only its manifest and its answers are judged, and it is never
passed.
`, new(connection).flags},
		{"diff", diff, "[-o json] EARLIER.json LATER.json", "how the server of one report differs from an earlier one", `
It compares what they advertise and what they did.
`, new(comparison).flags},
		{"show", show, "[-o FORMAT] REPORT.json", "write a report in another format", "", new(showing).flags},
		{"push", push, "--url URL [-o FORMAT] REPORT.json", "post a report to a webhook", "", new(pushing).flags},
		{"policy", policy, "[--type TYPE] REPORT.json", "make the policy that a server can live under", policies(), new(making).flags},
		{"attest", attest, "--image NAME@sha256:DIGEST REPORT.json", "sign what a report says of an image (in-toto, DSSE)", "", new(attesting).flags},
		{"verify", verify, "--key FILE ENVELOPE.json", "check what was signed of an image", `
Without --image it is not compared which image the statement is about.

Exit codes:
  0  it is signed by the key, about the image of --image, and a Pass
  3  it is signed by the key, about the image of --image, and a Fail
  1  it is signed and Inconclusive, or it was refused: the message says which
`, new(verifying).flags},
		{"rules", rulesCommand, "[ID]", "what is looked for, or one rule explained", "", nil},
		{"cluster", clusterCommand, "COMMAND", "audits of the operator, as kubectl mcpaudit", "", nil},
		{"version", versionCommand, "", "the version of the program and of its rules", "", nil},
		{"help", helpCommand, "[COMMAND]", "this, or the flags of a command", "", nil},
	}
}

const reports = `
REPORT.json is the report.json of --out-dir, the output of -o json, or an MCPAuditReport
as kubectl get -o json prints it; - is standard input.

Exit codes of an audit (run and connect):
  0  nothing at or above the threshold was found
  1  the audit could not be done, or not to its end (Inconclusive)
  2  the tracer was refused; the message says what to do
  3  findings at or above the threshold
  4  connect: no such findings, and nothing was traced (NotTraced)
diff: 0 the same, 3 they differ. Other commands: 0 done, 1 not; verify --help has its own.
`

func helpCommand(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	if len(args) > 0 {
		i := slices.IndexFunc(commands(), func(c command) bool { return c.name == args[0] })
		if i < 0 {
			return exitError, unknown(args[0])
		}
		return 0, explainCommand(stdout, args[0])
	}
	err := help(stdout)
	return status(err), err
}

// help is one screen: what there is. The flags are those of COMMAND --help.
func help(w io.Writer) error {
	var text strings.Builder
	fmt.Fprint(&text, "mcpaudit runs an MCP server in a sandbox and reports what it does.\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-46s %s\n", strings.TrimSpace(c.name+" "+c.takes), c.about)
	}
	fmt.Fprint(&text, "\nmcpaudit COMMAND --help has the flags of a command.\n", reports)
	_, err := io.WriteString(w, text.String())
	return err
}

// explainCommand is the help of one command.
func explainCommand(w io.Writer, name string) error {
	c := commands()[slices.IndexFunc(commands(), func(c command) bool { return c.name == name })]
	var text strings.Builder
	fmt.Fprintf(&text, "mcpaudit %s: %s.\n\nUsage:\n  mcpaudit %s\n%s", c.name, c.about, strings.TrimSpace(c.name+" "+c.takes), c.more)
	if c.flags != nil {
		fmt.Fprintf(&text, "\nFlags:\n%s", c.flags().FlagUsages())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// misused returns what a command says of flags that it cannot read.
func misused(f *pflag.FlagSet, err error) error {
	return fmt.Errorf("%w: see mcpaudit %s --help", err, f.Name())
}

func unknown(name string) error {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return fmt.Errorf("unknown command %q: it is one of %s", name, strings.Join(names, ", "))
}
