package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// rulesCommand lists the rules, or explains one.
func rulesCommand(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	all := rules.All()
	var text strings.Builder
	switch len(args) {
	case 0:
		for _, r := range all {
			fmt.Fprintf(&text, "%-19s %-9s %s\n", r.ID, r.Severity, r.Title)
		}
	case 1:
		r, ok := rules.Find(strings.ToUpper(args[0]))
		if !ok {
			return exitError, fmt.Errorf("there is no rule %q: mcpaudit rules lists them", args[0])
		}
		explain(&text, r)
	default:
		return exitError, fmt.Errorf("mcpaudit rules takes one rule, as in mcpaudit rules %s", all[0].ID)
	}
	_, err := io.WriteString(stdout, text.String())
	return status(err), err
}

// explain writes a rule for people.
func explain(w *strings.Builder, r rules.Rule) {
	fmt.Fprintf(w, "%s  %s (%s)\n", r.ID, r.Title, r.Severity)
	for _, part := range []struct{ name, text string }{
		{"Found", r.Description}, {"Expected false positives", r.Expected},
		{"For whoever wrote the server", r.Fix}, {"For whoever runs it", r.WhoRuns()},
	} {
		if part.text != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", part.name, wrapped(part.text))
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

// wrapped breaks a text into indented lines of at most 80 columns.
func wrapped(text string) string {
	var all strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
			all.WriteString("  ")
			column = 2
		case column+1+len(word) > 80:
			all.WriteString("\n  ")
			column = 2
		default:
			all.WriteString(" ")
			column++
		}
		all.WriteString(word)
		column += len(word)
	}
	return all.String()
}
