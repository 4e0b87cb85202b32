// Package cli holds what the programs add to cobra: errors of one line, exit codes,
// flags with a fixed set of values, and output for terminals.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpaudit/mcpaudit/runner/render"
)

// ExitError ends the program with an exit code other than 1.
type ExitError struct {
	Code int
	Err  error // printed unless nil
}

func (e ExitError) Error() string { return fmt.Sprint(e.Err) }
func (e ExitError) Unwrap() error { return e.Err }

// Exit returns an error that ends the program with a code and prints err; nil for 0 without an
// error.
func Exit(code int, err error) error {
	if code == 0 && err == nil {
		return nil
	}
	return ExitError{code, err}
}

// Run executes a command line. It returns the exit code and, on one line that is safe
// on a terminal, the error to print.
func Run(ctx context.Context, root *cobra.Command, args []string) (int, error) {
	cobra.EnableCommandSorting = false
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	prepare(root)
	root.SetArgs(append([]string{}, args...)) // nil means os.Args
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0, nil
	}
	exit := ExitError{Code: 1, Err: err}
	errors.As(err, &exit)
	if exit.Err == nil {
		return exit.Code, nil
	}
	if errors.Is(err, context.Canceled) {
		return exit.Code, errors.New("interrupted")
	}
	var line []string
	for text := range strings.Lines(err.Error()) {
		line = append(line, strings.TrimSpace(text))
	}
	return exit.Code, errors.New(render.Escape(strings.Join(line, " ")))
}

// prepare configures a command and its subcommands.
func prepare(c *cobra.Command) {
	c.Flags().SortFlags, c.PersistentFlags().SortFlags = false, false
	if !c.HasSubCommands() {
		return
	}
	for _, sub := range c.Commands() {
		prepare(sub)
	}
	c.SuggestionsMinimumDistance = 2
	c.Args, c.RunE = cobra.ArbitraryArgs, unknownCommand
	c.SetHelpCommand(help(c))
	c.InitDefaultHelpCmd()
}

// help replaces cobra's help command, which knows only the root's commands and
// succeeds for unknown ones.
func help(of *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about any command",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(of), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := of.Find(args)
			if err != nil || len(rest) > 0 {
				return errors.Join(err, unknownCommand(about, rest))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// unknownCommand runs where a subcommand is missing.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("missing command; one of: %s", strings.Join(names(c), ", "))
	}
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(similar, " or "))
	}
	return fmt.Errorf("unknown command %q; one of: %s", args[0], strings.Join(names(c), ", "))
}

func names(c *cobra.Command) []string {
	var all []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			all = append(all, sub.Name())
		}
	}
	return all
}

func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
		return unknownCommand(c, args)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: invalid value %q (%w)", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
}

// Args checks the number of arguments.
func Args(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("wrong number of arguments; usage: %s", c.UseLine())
		}
		return nil
	}
}

// Version returns the command that prints the version of the program.
func Version(text string) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program and of its rules", Args: Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), text)
			return err
		},
	}
}
