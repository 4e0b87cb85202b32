package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// write prints the table, the details to judge, and the totals.
func write(out io.Writer, all []audited) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SERVER\tVERDICT\tASSURANCE\tTOOLS ACCEPTED\tBRANCHES\tCALLS ACCEPTED\tSECONDS\tFINDINGS")
	var details strings.Builder
	for _, a := range all {
		c := a.report.Coverage
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\n", a.source, a.verdict(), a.report.Assurance.Level, exercised(c.Tools), share(c.Branches), share(c.Calls),
			a.report.EndTime.Sub(a.report.StartTime.Time).Seconds(), report.Count(a.report.Findings))
		a.explain(&details)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n%s", details.String(), totals(all))
	return err
}

// verdict returns the verdict, with the reason if it is Inconclusive.
func (a audited) verdict() string {
	switch r := a.report; {
	case a.missing != "":
		return "not audited"
	case r.Verdict == report.VerdictInconclusive:
		return fmt.Sprintf("%s (%s)", r.Verdict, r.Reason)
	default:
		return string(r.Verdict)
	}
}

// explain writes the details that a reader has to judge.
func (a audited) explain(b *strings.Builder) {
	if a.missing != "" {
		fmt.Fprintf(b, "%s: not audited: %s\n", a.source, render.Escape(a.missing))
		return
	}
	if a.report.Verdict != report.VerdictPass {
		fmt.Fprintf(b, "%s: %s\n", a.source, render.Escape(a.report.Message))
	}
	for _, f := range a.report.Findings {
		fmt.Fprintf(b, "%s: %s %s: %s\n", a.source, f.Rule, f.Severity, render.Escape(f.Message))
	}
	var never []string
	for _, e := range a.report.Exercise {
		if e.Kind == report.CapabilityTool && e.Calls.Done == 0 {
			never = append(never, render.Escape(e.Name))
		}
	}
	if len(never) > 0 {
		fmt.Fprintf(b, "%s: never accepted a call: %s\n", a.source, strings.Join(never, ", "))
	}
}

// totals returns shares of the audited servers and of all their tools.
func totals(all []audited) string {
	var servers, inconclusive, found, missing report.Share
	var tools report.Exercised
	for _, a := range all {
		missing.Total++
		if a.missing != "" {
			missing.Done++
			continue
		}
		servers.Total++
		if a.report.Verdict == report.VerdictInconclusive {
			inconclusive.Done++
		}
		if len(a.report.Findings) > 0 {
			found.Done++
		}
		tools.Listed += a.report.Coverage.Tools.Listed
		tools.Accepted += a.report.Coverage.Tools.Accepted
	}
	inconclusive.Total, found.Total = servers.Total, servers.Total
	accepted := report.Share{Done: tools.Accepted, Total: tools.Listed}
	return fmt.Sprintf("Inconclusive: %s of the servers. Tools that accepted a call: %s. Servers with findings: %s. Not audited: %s.\n",
		share(inconclusive), share(accepted), share(found), share(missing))
}

// minBranches is the least share of taken branches for a reference server, in percent.
const minBranches = 90

// uncovered returns the servers with capabilities that were not exercised, or with too few taken
// branches.
func uncovered(all []audited) (short []string) {
	for _, a := range all {
		c := a.report.Coverage
		full := a.missing == "" && c.Branches.Percent() >= minBranches
		for _, e := range []report.Exercised{c.Tools, c.Resources, c.ResourceTemplates, c.Prompts} {
			full = full && e.Called >= e.Listed
		}
		if !full {
			short = append(short, a.source)
		}
	}
	return short
}

// exercised returns the share that accepted a call, such as "9/9", with the number of called ones
// if lower.
func exercised(e report.Exercised) string {
	if e.Called < e.Listed {
		return fmt.Sprintf("%d/%d, called %d", e.Accepted, e.Listed, e.Called)
	}
	return fmt.Sprintf("%d/%d", e.Accepted, e.Listed)
}

func share(s report.Share) string {
	if s.Total == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d (%d %%)", s.Done, s.Total, s.Percent())
}
