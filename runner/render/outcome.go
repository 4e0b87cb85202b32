package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// unseen says why an audit did not see everything; nil when it did. Formats for
// programs ask it rather than the verdict alone: a report that contradicts itself, or
// has a verdict that this version does not know, is not taken for a success.
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

// counts reports whether a finding is one that a verdict is made of.
func counts(f report.Finding) bool { return f.Suppressed == nil || f.Suppressed.Expired }

// fails reports whether a finding makes the verdict Fail: one of an unknown severity
// does wherever anything can, as report.Count has it.
func fails(f report.Finding, failOn report.Severity) bool {
	return counts(f) && (f.Severity.AtLeast(failOn) || f.Severity.Rank() < 0 && failOn.Rank() >= 0)
}

// unexplained reports whether a report says Fail, and none of its findings does: the
// manager fails an audit by a pinned manifest, of which the report need not know.
func unexplained(r report.Report) bool {
	return r.Verdict == report.VerdictFail && !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return fails(f, r.FailOn) })
}

// serverName returns what a server is called where only one word fits.
func serverName(r report.Report) string {
	name := cmp.Or(r.Server.Name, strings.Join(r.Server.Command, " "), r.Server.URL, "an MCP server without a name")
	return Escape(shorten(name, 160))
}

// rulesPage is where the rules are explained.
const (
	homePage  = "https://github.com/mcpaudit/mcpaudit"
	rulesPage = homePage + "/blob/main/docs/rules.md"
)
