package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/test/published"
)

// The floors: the least number of servers, and the largest share of flagged tools.
const (
	minServers = 30
	maxFlagged = 0.01
)

// benign counts the tools of honest servers that the rules about texts flag.
func benign(ctx context.Context, cache string, out io.Writer) (missed []string, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, "server\ttools\tflagged\tfindings of texts"); err != nil {
		return nil, err
	}
	var details, missing strings.Builder
	had, tools, flagged := 0, 0, 0
	for _, p := range published.Servers {
		r, err := collect(ctx, p, cache)
		if err != nil {
			return nil, err
		}
		if r.Missing == "" && len(r.Manifest.Tools) == 0 {
			r.Missing = "it lists no tools"
		}
		if r.Missing != "" {
			fmt.Fprintf(&missing, "not counted: %s: %s\n", p.Source, render.Escape(r.Missing))
			continue
		}
		found := slices.DeleteFunc(rules.Judge(textInput(r)), func(f report.Finding) bool { return !aboutText(f.Rule) })
		n := len(flaggedTools(found))
		had, tools, flagged = had+1, tools+len(r.Manifest.Tools), flagged+n
		if _, err := fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", p.Source, len(r.Manifest.Tools), n, len(found)); err != nil {
			return nil, err
		}
		for _, f := range found {
			fmt.Fprintf(&details, "%s: %s %s: %s\n", p.Source, f.Rule, f.Severity, render.Escape(f.Message))
		}
	}
	share := float64(flagged) / float64(max(tools, 1))
	if _, err := fmt.Fprintf(table, "%d servers\t%d\t%d\t%.2f %%\n", had, tools, flagged, 100*share); err != nil {
		return nil, err
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	if had < minServers {
		missed = append(missed, fmt.Sprintf("%d servers could be installed, want at least %d", had, minServers))
	}
	if share > maxFlagged {
		missed = append(missed, fmt.Sprintf("%.2f %% of the tools are flagged, want at most %.0f %%", 100*share, 100*maxFlagged))
	}
	_, err = fmt.Fprintf(out, "\n%s%s", details.String(), missing.String())
	return missed, err
}

// textInput returns the input of the rules about texts.
func textInput(r record) rules.Input { return rules.Input{Manifest: r.Manifest, Command: r.Command} }

// aboutText reports whether a rule judges texts and names.
func aboutText(rule string) bool {
	families := []string{"MCPA-POISON-", "MCPA-OUTPUT-", "MCPA-SQUAT-"}
	return slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(rule, family) })
}

// flaggedTools returns the tools with a finding.
func flaggedTools(found []report.Finding) map[string]bool {
	flagged := map[string]bool{}
	for _, f := range found {
		if f.Capability.Kind == report.CapabilityTool {
			flagged[f.Capability.Name] = true
		}
	}
	return flagged
}
