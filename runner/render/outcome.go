package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// unseen says why an audit did not see everything; nil if it did. Formats for programs
// use it besides the verdict, so that a report that contradicts itself, or has a verdict
// that this version does not know, is not taken for a success.
func unseen(r report.Report) *report.Incomplete {
	switch {
	case r.Incomplete != nil:
		return &report.Incomplete{
			Reason:  cmp.Or(r.Incomplete.Reason, r.Reason, "Unknown"),
			Message: cmp.Or(r.Incomplete.Message, r.Message, "the audit did not see everything"),
		}
	case r.Verdict == report.VerdictPass && len(r.Truncated) > 0:
		return &report.Incomplete{Reason: report.ReasonReportTruncated, Message: "the report had to leave something out"}
	case r.Verdict == report.VerdictPass, r.Verdict == report.VerdictFail:
		return nil
	case r.Verdict == report.VerdictInconclusive:
		return &report.Incomplete{Reason: cmp.Or(r.Reason, "Unknown"), Message: cmp.Or(r.Message, "the audit did not see everything")}
	}
	return &report.Incomplete{Reason: "Unknown", Message: fmt.Sprintf("the report has the verdict %q, which this version does not know", r.Verdict)}
}

// counts reports whether a verdict depends on a finding.
func counts(f report.Finding) bool { return f.Suppressed == nil || f.Suppressed.Expired }

// fails reports whether a finding makes the verdict Fail. An unknown severity does if any
// does, as in report.Count.
func fails(f report.Finding, failOn report.Severity) bool {
	return counts(f) && (f.Severity.AtLeast(failOn) || f.Severity.Rank() < 0 && failOn.Rank() >= 0)
}

// unexplained reports whether a report says Fail without a finding that does: the manager
// may fail an audit by a pinned manifest that the report does not know.
func unexplained(r report.Report) bool {
	return r.Verdict == report.VerdictFail && !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return fails(f, r.FailOn) })
}

// serverName returns a server's name in one word.
func serverName(r report.Report) string {
	name := cmp.Or(r.Server.Name, strings.Join(r.Server.Command, " "), r.Server.URL, "an MCP server without a name")
	return Escape(report.Cut(name, 160))
}

// rulesPage is the page that explains the rules.
const (
	homePage  = "https://github.com/mcpaudit/mcpaudit"
	rulesPage = homePage + "/blob/main/docs/rules.md"
)
