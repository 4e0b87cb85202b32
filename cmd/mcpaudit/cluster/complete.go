package cluster

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// noFiles tells the shell not to offer files (ShellCompDirectiveNoFileComp of
// spf13/cobra, whose protocol kubectl speaks with kubectl_complete-PLUGIN).
const noFiles = ":4"

// patience is how long somebody who pressed Tab waits for the cluster.
const patience = 3 * time.Second

// complete prints what may stand in place of the last argument, one a line.
func complete(ctx context.Context, p Program, args []string) error {
	p.Stderr = io.Discard // it would be written over the command line
	var choices []string
	if len(args) > 0 {
		choices = candidates(ctx, p, args[:len(args)-1], args[len(args)-1])
	}
	_, err := fmt.Fprintln(p.Stdout, strings.Join(append(choices, noFiles), "\n"))
	return err
}

func candidates(ctx context.Context, p Program, before []string, word string) []string {
	c := &connection{}
	f := flagSet("")
	f.ParseErrorsAllowlist.UnknownFlags = true // those of the command are bound below
	c.flags(f)
	var one *command
	for i := range commands {
		if slices.Contains(before, commands[i].name) && one == nil {
			one = &commands[i]
			one.setUp(f)
		}
	}
	var all []string
	switch {
	case strings.HasPrefix(word, "-"):
		f.VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				all = append(all, "--"+flag.Name)
			}
		})
	case one == nil:
		all = append(names(), "help", "version")
	case strings.HasPrefix(one.takes, "NAME"):
		_ = f.Parse(before) // as far as it is finished
		all = audits(ctx, p, c)
	}
	return slices.DeleteFunc(all, func(candidate string) bool { return !strings.HasPrefix(candidate, word) })
}

// audits are the names of those in the namespace; none if the cluster does not say.
func audits(ctx context.Context, p Program, c *connection) []string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := c.open(&session{Program: p, connection: c})
	if err != nil {
		return nil
	}
	objects, err := a.metadata(ctx, auditResource, "")
	if err != nil {
		return nil
	}
	var all []string
	for _, object := range objects {
		all = append(all, object.Name)
	}
	return all
}
