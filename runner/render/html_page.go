package render

import (
	"html/template"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// htmlPage holds what the template writes. Every class is from a closed list.
type htmlPage struct {
	report.Report
	Style   template.CSS
	Policy  string
	Heading string // what the server is called
	Head    headline
	Counts  []severityCount
	With    []string
	Held    int    // findings that are suppressed
	Found   string // what the findings are, in a few words

	Judged   []judged
	Sections []section
	Kinds    []kindRow
	Out      []report.CapabilityCoverage // capabilities that stand out
	Items    []manifestItem
	Repeat   string
	LeftOut  int
}

// headline is the verdict in words.
type headline struct{ Class, Sign, Word, Means string }

type severityCount struct {
	Class    string
	Severity report.Severity
	N        int
}

type kindRow struct {
	Name string
	Of   report.Exercised
}

type manifestItem struct {
	Kind string
	report.Item
}

func newHTMLPage(r report.Report) htmlPage {
	p := htmlPage{
		Report: r, Style: template.CSS(pageStyle), Policy: pagePolicy(), Heading: calledBy(r.Server), Head: headlineOf(r), With: circumstances(r),
		Held: report.Count(r.Findings).Suppressed, Kinds: exercisedKinds(r.Coverage), Items: manifestItems(r.Manifest), Repeat: repeat(r),
	}
	for _, severity := range report.Severities {
		n := 0
		for _, f := range r.Findings {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 {
			p.Counts = append(p.Counts, severityCount{severityClass(severity), severity, n})
		}
	}
	for _, f := range r.Findings {
		p.Judged = append(p.Judged, judge(r, f))
	}
	p.Found = foundIn(p.Judged)
	for _, c := range r.Profile.Capabilities {
		p.Sections = append(p.Sections, sectionOf(c))
	}
	for _, row := range r.Exercise {
		if row.Skipped != "" || row.Calls.Total > 0 && row.Calls.Done == 0 {
			p.Out = append(p.Out, row)
		}
	}
	for _, n := range r.Noise {
		p.LeftOut += n.Count
	}
	return p
}

// headlineOf returns the headline of a report: only a Pass is green.
func headlineOf(r report.Report) headline {
	switch r.Verdict {
	case report.VerdictPass:
		return passed(r)
	case report.VerdictFail:
		return headline{"fail", "✕", "Fail", "The server did, or says, what its declaration does not cover."}
	case report.VerdictInconclusive:
		return headline{"inconclusive", "?", "Inconclusive", "This is not a pass: the audit could not observe all that it had to, so nobody knows what else the server does."}
	}
	return headline{"inconclusive", "?", string(r.Verdict), "This is not a pass: it is no verdict that this version knows."}
}

// passed returns the headline of a Pass; a report that contradicts itself gets another.
func passed(r report.Report) headline {
	switch {
	case r.Incomplete != nil, len(r.Truncated) > 0:
		return headline{"inconclusive", "?", "Contradictory", "This is not a pass: the report says Pass, and that the audit did not observe all that it had to."}
	case r.FailOn == "":
		return headline{"pass", "✓", "Pass", "The audit saw all that it has to see. No severity was set that would fail it."}
	}
	return headline{"pass", "✓", "Pass", "The audit saw all that it has to see, and nothing reached the threshold, " + string(r.FailOn) + "."}
}

// foundIn returns the heading of the findings.
func foundIn(all []judged) string {
	switch {
	case len(all) == 0:
		return "Findings"
	case slices.ContainsFunc(all, func(j judged) bool { return !j.Says }):
		return "What it did that it did not declare"
	}
	return "What it says"
}

// severityClass has unknown severities on top, as report.Count has them.
func severityClass(s report.Severity) string {
	if !slices.Contains(report.Severities, s) {
		return "critical"
	}
	return strings.ToLower(string(s))
}

// calledBy returns the name that a server gives itself, or how it is reached.
func calledBy(s report.ServerRun) string {
	if s.Name != "" {
		return strings.TrimSpace(s.Name + " " + s.Version)
	}
	return report.Cut(strings.TrimSpace(strings.Join(s.Command, " ")+s.URL), 160)
}

// circumstances says how the server was audited.
func circumstances(r report.Report) []string {
	var all []string
	if v := r.Server.ProtocolVersion; v != "" {
		all = append(all, "MCP "+v)
	}
	if e := r.Server.Environment; e != nil {
		if len(e.Names) > 0 {
			all = append(all, "with "+strings.Join(e.Names, ", ")+" set")
		}
		if e.WorkingDir != "" {
			all = append(all, "in "+e.WorkingDir)
		}
	}
	if t := r.Server.Transport; t != "" {
		all = append(all, string(t)+foundAt(r.Server.Detected))
	}
	if r.Tracer.Name == "" {
		all = append(all, "not traced")
	} else {
		all = append(all, "traced by "+strings.TrimSpace(r.Tracer.Name+" "+r.Tracer.Version))
	}
	if r.Network != "" {
		all = append(all, "network "+string(r.Network))
	}
	return all
}

func exercisedKinds(c report.Coverage) []kindRow {
	return slices.DeleteFunc([]kindRow{
		{"tools", c.Tools}, {"resources", c.Resources}, {"resource templates", c.ResourceTemplates}, {"prompts", c.Prompts},
		{"completions", c.Completions}, {"subscriptions", c.Subscriptions},
	}, func(k kindRow) bool { return k.Of.Listed == 0 })
}

func manifestItems(m report.Manifest) []manifestItem {
	var all []manifestItem
	for _, kind := range []struct {
		name  string
		items []report.Item
	}{{"tool", m.Tools}, {"resource", m.Resources}, {"resource template", m.ResourceTemplates}, {"prompt", m.Prompts}} {
		for _, item := range kind.items {
			all = append(all, manifestItem{kind.name, item})
		}
	}
	return all
}
