package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/least"
)

// making holds the flags of policy.
type making struct {
	least.Options
	kinds  []least.Kind
	outDir string
}

// allKinds is the --type that makes every kind.
const allKinds = "all"

func newPolicy() *cobra.Command {
	var o making
	var long strings.Builder
	long.WriteString("Make a policy from a report. It allows what the server was observed to do, and little else.\n\nTypes:\n")
	words := []string{}
	for _, k := range least.Kinds {
		words = append(words, k.Name)
		fmt.Fprintf(&long, "  %-16s %s\n", k.Name, k.About)
	}
	fmt.Fprintf(&long, "  %-16s one file of each, into --out-dir\n", allKinds)
	words = append(words, allKinds)
	c := &cobra.Command{
		Use: "policy REPORT.json", Short: "Make a policy that allows what the server did", Long: long.String(), Args: cli.Args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(o.kinds) > 1 && o.outDir == "" {
				return errors.New("--type all: writes several files; set --out-dir")
			}
			source, err := readSource(args[0])
			if err != nil {
				return err
			}
			return o.make(source, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.Enum(c, &o.kinds, cli.Flag{Name: "type", Default: "securitycontext", Usage: strings.Join(words, ", ")}, words, kindsNamed)
	f := c.Flags()
	f.StringVar(&o.outDir, "out-dir", "", "directory to write the policies to, each to a file of its own")
	f.StringVar(&o.Name, "name", "", "name of the objects and of the workload (default: the server's own name)")
	f.StringVar(&o.Container, "container", "", "the server's container in the Pod (default: --name)")
	f.StringVar(&o.Workload, "workload", "Deployment", "kind of workload that the securityContext patches: Deployment or Pod")
	f.StringVar(&o.Selector, "selector", "", "label of the Pods, key=value (default: app.kubernetes.io/name=NAME)")
	f.StringVar(&o.LocalhostProfile, "localhost-profile", "", "seccomp profile below the kubelet's seccomp directory (default: mcpaudit/NAME.json)")
	f.BoolVar(&o.AllowIncomplete, "allow-incomplete", false, "accept an audit that did not observe everything; what it missed is forbidden")
	return c
}

func kindsNamed(word string) ([]least.Kind, bool) {
	if word == allKinds {
		return least.Kinds, true
	}
	k, ok := least.KindNamed(word)
	return []least.Kind{k}, ok
}

// make writes the policies, and their notes to stderr as well, for users who pipe a policy on.
func (o *making) make(source least.Source, stdout, stderr io.Writer) error {
	printed := map[string]bool{}
	for _, k := range o.kinds {
		made, err := least.Generate(source, k, o.Options)
		if err != nil {
			return err
		}
		for _, note := range made.Notes {
			if !printed[note] {
				printed[note] = true
				_, _ = fmt.Fprintln(stderr, "mcpaudit:", note)
			}
		}
		if err := o.write(k, made.Text, stdout); err != nil {
			return err
		}
	}
	return nil
}

func (o *making) write(k least.Kind, text string, stdout io.Writer) error {
	if o.outDir == "" {
		_, err := io.WriteString(stdout, text)
		return err
	}
	err := os.MkdirAll(o.outDir, 0o755)
	if err == nil {
		err = cli.Replace(filepath.Join(o.outDir, k.File), []byte(text))
	}
	if err != nil {
		return fmt.Errorf("--out-dir: %w", err)
	}
	return nil
}
