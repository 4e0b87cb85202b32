package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

func newRules() *cobra.Command {
	return &cobra.Command{
		Use: "rules [ID]", Short: "List the rules, or explain one", Args: cli.Args(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range rules.All() {
				ids = append(ids, cobra.CompletionWithDesc(r.ID, r.Title))
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			var text strings.Builder
			if len(args) == 0 {
				for _, r := range rules.All() {
					fmt.Fprintf(&text, "%-19s %-9s %s\n", r.ID, r.Severity, r.Title)
				}
			} else {
				r, ok := rules.Find(strings.ToUpper(args[0]))
				if !ok {
					return fmt.Errorf("unknown rule %q; mcpaudit rules lists them", args[0])
				}
				explain(&text, r)
			}
			_, err := io.WriteString(c.OutOrStdout(), text.String())
			return err
		},
	}
}

func explain(w *strings.Builder, r rules.Rule) {
	fmt.Fprintf(w, "%s  %s (%s)\n", r.ID, r.Title, r.Severity)
	for _, part := range r.Parts() {
		fmt.Fprintf(w, "\n%s\n", part.Name)
		for _, item := range part.Items {
			fmt.Fprintln(w, wrapped("- ", item))
		}
		if part.Text != "" {
			fmt.Fprintln(w, wrapped("", part.Text))
		}
	}
	if len(r.References) > 0 {
		fmt.Fprint(w, "\nReferences\n")
	}
	for _, id := range r.References {
		if ref, ok := rules.LookUp(id); ok {
			fmt.Fprintf(w, "  %s %s\n    %s\n", ref.ID, ref.Title, ref.URL)
		}
	}
}

// wrapped formats a text behind a bullet as indented lines of at most 80 columns.
func wrapped(bullet, text string) string {
	var all strings.Builder
	indent := 2 + len(bullet)
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
			all.WriteString("  " + bullet)
			column = indent
		case column+1+len(word) > 80:
			all.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			all.WriteString(" ")
			column++
		}
		all.WriteString(word)
		column += len(word)
	}
	return all.String()
}
