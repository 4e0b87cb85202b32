package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/published"
)

// honest has published servers that do what they declare: the four reference servers, and five of
// other kinds. stands explains why a finding above Info is correct, by rule.
var honest = []struct {
	published.Server
	stands map[string]string
}{
	{Server: published.NPM("@modelcontextprotocol/server-everything@2026.8.31")},
	{Server: published.NPM("@modelcontextprotocol/server-filesystem@2026.8.31", "/tmp")},
	{Server: published.NPM("@modelcontextprotocol/server-memory@2026.8.31")},
	{Server: published.NPM("@modelcontextprotocol/server-sequential-thinking@2026.8.31")},
	{Server: published.NPM("mcp-fetch-server@1.1.2").Runs("mcp-fetch-server")},                      // connects to its argument
	{Server: published.NPM("mcp-server-commands@0.5.0")},                                            // runs its argument
	{Server: published.NPM("@upstash/context7-mcp@4.1.1")},                                          // queries one service
	{Server: published.NPM("@allpepper/memory-bank-mcp@0.2.2").With("MEMORY_BANK_ROOT=/tmp/banks")}, // keeps files
	{Server: published.NPM("@antv/mcp-server-chart@0.9.10"), stands: map[string]string{
		"MCPA-EGRESS-001": "(stands: the data of a chart go to a service that draws it, which no description says)",
	}},
}

// reference audits published servers by their own declaration, with every tool called, and prints
// each finding.
func reference(ctx context.Context, cache string, out io.Writer) ([]string, error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SERVER\tVERDICT\tRISK\tTOOLS CALLED\tABOVE INFO\tINFO")
	var missed, notes []string
	for _, s := range honest {
		command, env, err := s.Install(ctx, filepath.Join(cache, "servers"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Source, err)
		}
		r, err := examine(ctx, command, env, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Source, err)
		}
		above := 0
		for _, f := range r.Findings {
			why := s.stands[f.Rule]
			notes = append(notes, fmt.Sprintf("%s: %s %s: %s %s", s.Source, f.Rule, f.Severity, f.Message, why))
			if !f.Severity.AtLeast(report.SeverityLow) {
				continue
			}
			if above++; why == "" {
				missed = append(missed, fmt.Sprintf("%s: %s %s", s.Source, f.Rule, f.Severity))
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d %s\t%d of %d\t%d\t%d\n", s.Source, verdictOf(r), r.Risk.Score, r.Risk.Level,
			r.Coverage.Tools.Called, r.Coverage.Tools.Listed, above, len(r.Findings)-above)
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	for _, note := range notes {
		_, _ = fmt.Fprintln(out, note)
	}
	return missed, nil
}

// verdictOf returns the verdict, with the reason if it is Inconclusive.
func verdictOf(r report.Report) string {
	if r.Verdict == report.VerdictInconclusive {
		return string(r.Verdict) + " (" + string(r.Reason) + ")"
	}
	return string(r.Verdict)
}
