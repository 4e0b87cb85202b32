// Package cluster is the command line for audits that run in a cluster: `kubectl
// mcpaudit`, and `mcpaudit cluster`, which is the same. It reads MCPServerAudits and
// their reports, and makes, pins and deletes audits; the operator does all the rest,
// so that nothing here is needed for an audit to end.
//
// It speaks to the API server by client-go's REST client alone: with all the typed
// clients of Kubernetes the program would be twice as large. What it prints of a
// server's making goes through package render.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/terminal"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The exit codes, besides 0: passed, the same, or done.
const (
	exitError        = 1 // it could not be done
	exitFail         = 3 // the verdict is Fail; diff: the two differ
	exitInconclusive = 4 // the verdict is Inconclusive
)

// The names by which kubectl knows the program, and its shell completion.
const (
	plugin    = "kubectl-mcpaudit"
	completer = "kubectl_complete-mcpaudit"
)

// Called reports whether a program was started as kubectl's plugin.
func Called(program string) bool {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return name == plugin || name == completer
}

// Plugin is the program as kubectl starts it.
func Plugin(ctx context.Context, program string, args []string, p Program) (int, error) {
	p.Name = "kubectl mcpaudit"
	if strings.HasPrefix(filepath.Base(program), completer) {
		return 0, complete(ctx, p, args)
	}
	return Main(ctx, args, p)
}

// Program is who is called, and where it writes.
type Program struct {
	// Name is typed to come here: "kubectl mcpaudit". Every text that
	// names a command begins with it.
	Name string
	// Version is that of the program, in a line.
	Version        string
	Stdout, Stderr io.Writer
	// Now is the clock; time.Now unless given.
	Now func() time.Time
}

// command is one of the commands.
type command struct {
	name string
	// takes lists the arguments, as help shows them; about describes the command in a line.
	takes, about string
	// examples are command lines without the name of the program.
	examples []string
	// setUp binds the flags, and returns what runs when they are parsed.
	setUp func(*pflag.FlagSet) action
}

// action does what a command is for. It returns the exit code.
type action func(ctx context.Context, s *session, args []string) (int, error)

var commands = []command{listCommand, showCommand, runCommand, logsCommand, diffCommand, approveCommand}

// session is one call of the program.
type session struct {
	Program
	connection *connection
}

// now is the time, by which ages are told.
func (s *session) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// colour reports whether the output has colours.
func (s *session) colour() bool { return terminal.Colours(s.Stdout) }

// tell writes a line for people, which is no output of the command.
func (s *session) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Stderr, "%s\n", render.Escape(fmt.Sprintf(format, args...))) // nothing depends on it
}

// Main runs the command that the arguments name. Its errors are one line.
func Main(ctx context.Context, args []string, p Program) (int, error) {
	code, err := p.dispatch(ctx, args)
	if err == nil {
		return code, nil
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return code, errors.New(render.Escape(strings.Join(strings.Fields(err.Error()), " ")))
}

func (p Program) dispatch(ctx context.Context, args []string) (int, error) {
	c := &connection{}
	help := false
	global := flagSet(p.Name)
	c.flags(global)
	global.BoolVarP(&help, "help", "h", false, "show this help")
	global.SetInterspersed(false) // what is behind the command is the command's
	if err := global.Parse(args); err != nil {
		return exitError, fmt.Errorf("%w: see %s help", err, p.Name)
	}
	args = global.Args()
	if help || len(args) == 1 && args[0] == "help" {
		return 0, p.help()
	}
	if len(args) == 0 {
		return exitError, fmt.Errorf("what to do? try: %s list -A, or %s help", p.Name, p.Name)
	}
	if args[0] == "version" {
		_, err := fmt.Fprintln(p.Stdout, p.Version)
		return status(err), err
	}
	name, rest := args[0], args[1:]
	if name == "help" {
		name, rest = args[1], []string{"--help"}
	}
	for _, one := range commands {
		if one.name == name {
			return p.call(ctx, one, c, rest)
		}
	}
	return exitError, fmt.Errorf("unknown command %q: it is one of %s, version, help", name, strings.Join(names(), ", "))
}

// call parses the flags of a command, and runs it.
func (p Program) call(ctx context.Context, one command, c *connection, args []string) (int, error) {
	help := false
	own := flagSet(one.name)
	run := one.setUp(own)
	all := flagSet(one.name)
	all.AddFlagSet(own)
	c.flags(all)
	all.BoolVarP(&help, "help", "h", false, "show this help")
	if err := all.Parse(args); err != nil {
		return exitError, fmt.Errorf("%w: see %s %s --help", err, p.Name, one.name)
	}
	if help {
		return 0, p.explain(one, own)
	}
	s := &session{Program: p, connection: c}
	if all.ArgsLenAtDash() > 0 {
		return exitError, fmt.Errorf("%q stands before --: only a command line stands behind it: see %s %s --help", all.Arg(0), p.Name, one.name)
	}
	return run(ctx, s, all.Args())
}

func names() []string {
	var all []string
	for _, one := range commands {
		all = append(all, one.name)
	}
	return all
}

func flagSet(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard) // errors are printed by who called, in one line
	return f
}

func status(err error) int {
	if err != nil {
		return exitError
	}
	return 0
}
