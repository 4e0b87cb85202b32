package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// honest are published servers that do what they say: the four reference servers,
// and five others of different kinds. stands says why a finding above Info is one
// that a maintainer of the server would not dispute.
var honest = []struct {
	published
	stands map[string]string
}{
	{published: npm("@modelcontextprotocol/server-everything@2026.8.31")},
	{published: npm("@modelcontextprotocol/server-filesystem@2026.8.31", "/tmp")},
	{published: npm("@modelcontextprotocol/server-memory@2026.8.31")},
	{published: npm("@modelcontextprotocol/server-sequential-thinking@2026.8.31")},
	{published: npm("mcp-fetch-server@1.1.2").runs("mcp-fetch-server")},                      // goes where its argument says
	{published: npm("mcp-server-commands@0.5.0")},                                            // runs what its argument says
	{published: npm("@upstash/context7-mcp@4.1.1")},                                          // asks one service
	{published: npm("@allpepper/memory-bank-mcp@0.2.2").with("MEMORY_BANK_ROOT=/tmp/banks")}, // keeps files
	{published: npm("@antv/mcp-server-chart@0.9.10"), stands: map[string]string{
		"MCPA-EGRESS-001": "(stands: the data of a chart go to a service that draws it, which no description says)",
	}}, // has its charts drawn elsewhere
}

// reference audits published servers, every tool called, under their own
// declaration, and prints each finding.
func reference(ctx context.Context, cache string, out io.Writer) ([]string, error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SERVER\tVERDICT\tRISK\tTOOLS CALLED\tABOVE INFO\tINFO")
	var missed, notes []string
	for _, s := range honest {
		key := strings.NewReplacer("/", "_", "@", "_").Replace(s.source)
		command, err := s.install(ctx, filepath.Join(cache, "servers", key))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.source, err)
		}
		r, err := examine(ctx, command, s.env, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.source, err)
		}
		above := 0
		for _, f := range r.Findings {
			why := s.stands[f.Rule]
			notes = append(notes, fmt.Sprintf("%s: %s %s: %s %s", s.source, f.Rule, f.Severity, f.Message, why))
			if !f.Severity.AtLeast(report.SeverityLow) {
				continue
			}
			if above++; why == "" {
				missed = append(missed, fmt.Sprintf("%s: %s %s", s.source, f.Rule, f.Severity))
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d %s\t%d of %d\t%d\t%d\n", s.source, verdictOf(r), r.Risk.Score, r.Risk.Level,
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

// verdictOf is the verdict, with the reason of one that says neither yes nor no.
func verdictOf(r report.Report) string {
	if r.Verdict == report.VerdictInconclusive {
		return string(r.Verdict) + " (" + string(r.Reason) + ")"
	}
	return string(r.Verdict)
}
