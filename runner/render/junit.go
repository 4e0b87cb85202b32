package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The elements of JUnit's XML, as far as Jenkins (junit-10.xsd of its xUnit plugin),
// GitLab and Maven Surefire agree on them.

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Skipped *junitNote   `xml:"skipped"`
	Error   *junitResult `xml:"error"`
	Failure *junitResult `xml:"failure"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
}

type junitResult struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as a test suite: a case for the audit as a whole, one for the
// server and one for each capability. Findings at or above the threshold are failures, and
// an inconclusive audit is an error. If the audit did not see everything, no case passes:
// those without a failure are skipped.
func JUnit(w io.Writer, r report.Report) error {
	suite := junitOf(r)
	b, err := xml.MarshalIndent(junitSuites{
		Name: "mcpaudit", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: suite.Time, Suite: suite,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode JUnit: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(b)+"\n"); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}

func junitOf(r report.Report) junitSuite {
	took := fmt.Sprintf("%.3f", max(r.EndTime.Sub(r.StartTime.Time), 0).Seconds())
	s := junitSuite{Name: "mcpaudit: " + junitText(serverName(r)), Time: took, Properties: junitProperties(r)}
	if at := r.StartTime; !at.IsZero() && at.Year() <= 9999 {
		s.Timestamp = at.UTC().Format("2006-01-02T15:04:05")
	}
	names := map[string]int{}
	add := func(name string, c junitCase) {
		c.Class, c.Name = junitText(serverName(r)), junitText(name)
		if c.Time == "" {
			c.Time = "0"
		}
		if names[c.Name]++; names[c.Name] > 1 { // GitLab ignores a second case of the same name
			c.Name += fmt.Sprintf(" (%d)", names[c.Name])
		}
		s.Tests++
		switch {
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	whole := junitWhole(r)
	whole.Time = took
	add("audit", whole)
	for _, row := range junitRows(r) {
		add(report.Capability{Kind: row.Kind, Name: row.Name}.String(), junitCapability(r, row))
	}
	return s
}

// junitWhole returns the case of the audit as a whole.
func junitWhole(r report.Report) junitCase {
	var c junitCase
	if why := unseen(r); r.Verdict == report.VerdictFail {
		c.Failure = &junitResult{Type: junitText(string(r.Reason)), Message: junitText(r.Message)}
		if why != nil {
			c.Failure.Text = junitText(fmt.Sprintf("And not everything was seen (%s): %s", why.Reason, why.Message))
		}
	} else if why != nil {
		c.Error = &junitResult{Type: junitText(string(why.Reason)), Message: junitText(why.Message), Text: junitText("Inconclusive: not everything was seen, so that this is no pass.")}
	}
	var out []string
	for _, g := range r.Unobserved {
		out = append(out, "not seen: "+g.Detail)
	}
	out = append(out, r.Errors...)
	for _, t := range r.Truncated {
		out = append(out, fmt.Sprintf("%d of %s had no room in the report", t.Dropped, t.Field))
	}
	c.Out = junitLines(out)
	return c
}

// junitRows returns the capabilities: the server, what was exercised, and others that are
// listed or have a finding.
func junitRows(r report.Report) []report.CapabilityCoverage {
	rows := append([]report.CapabilityCoverage{{Kind: report.CapabilityServer}}, r.Exercise...)
	known := map[report.Capability]bool{}
	for _, row := range rows {
		known[report.Capability{Kind: row.Kind, Name: row.Name}] = true
	}
	add := func(of report.Capability) {
		if !known[of] {
			known[of] = true
			rows = append(rows, report.CapabilityCoverage{Kind: of.Kind, Name: of.Name, Skipped: "nothing says that it was called"})
		}
	}
	for _, list := range []struct {
		kind  report.CapabilityKind
		items []report.Item
	}{
		{report.CapabilityTool, r.Manifest.Tools}, {report.CapabilityResource, r.Manifest.Resources},
		{report.CapabilityResourceTemplate, r.Manifest.ResourceTemplates}, {report.CapabilityPrompt, r.Manifest.Prompts},
	} {
		for _, item := range list.items {
			add(report.Capability{Kind: list.kind, Name: item.Name})
		}
	}
	for _, f := range r.Findings {
		add(f.Capability)
	}
	return rows
}

func junitCapability(r report.Report, row report.CapabilityCoverage) junitCase {
	var failing, others []report.Finding
	for _, f := range r.Findings {
		switch {
		case f.Capability != report.Capability{Kind: row.Kind, Name: row.Name}:
		case fails(f, r.FailOn):
			failing = append(failing, f)
		default:
			others = append(others, f)
		}
	}
	var c junitCase
	why := unseen(r)
	switch {
	case len(failing) > 0: // one element: Jenkins reads no more
		message := failing[0].Message
		if more := len(failing) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		c.Failure = &junitResult{Type: junitText(failing[0].Rule), Message: junitText(message), Text: junitFindings(failing)}
	case why != nil:
		c.Skipped = &junitNote{Message: junitText(fmt.Sprintf("not known: the audit did not see everything (%s)", why.Reason))}
	case len(r.Truncated) > 0:
		c.Skipped = &junitNote{Message: "not known: the report had no room for everything"}
	case row.Kind != report.CapabilityServer && row.Calls.Total == 0:
		c.Skipped = &junitNote{Message: junitText("not called: " + skipped(row.Skipped))}
	case row.Kind != report.CapabilityServer && row.Calls.Done == 0:
		c.Skipped = &junitNote{Message: count(row.Calls.Total, "call") + ", none accepted"}
	}
	c.Out = junitFindings(others)
	return c
}

// junitFindings returns findings with their evidence, a line each.
func junitFindings(all []report.Finding) string {
	var lines []string
	for _, f := range all {
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Severity, f.Rule, f.Message))
		if f.Suppressed != nil {
			lines = append(lines, "  "+suppressed(*f.Suppressed))
		}
		for _, e := range f.Evidence {
			text := "  " + e.Detail
			if e.PID != 0 {
				text = fmt.Sprintf("  %s pid %d: %s", e.Time.UTC().Format(time.RFC3339Nano), e.PID, e.Detail)
			}
			lines = append(lines, text)
		}
		if f.Mitigation != "" {
			lines = append(lines, "  mitigation: "+f.Mitigation)
		}
	}
	return junitLines(lines)
}

func junitLines(lines []string) string {
	lines = slices.Clone(lines)
	for i, l := range lines {
		lines[i] = junitText(l) + "\n"
	}
	return strings.Join(lines, "")
}

// junitText returns a text on one line, without characters that XML 1.0 forbids and
// without [[ATTACHMENT|path]]: Jenkins and GitLab would attach a file that a hostile server
// chooses.
func junitText(text string) string { return strings.ReplaceAll(Escape(text), "[[", "[ [") }

func junitProperties(r report.Report) []junitProperty {
	verdict := string(r.Verdict)
	if unseen(r) != nil && r.Verdict != report.VerdictFail {
		verdict = string(report.VerdictInconclusive)
	}
	var all []junitProperty
	for _, p := range []junitProperty{
		{"verdict", verdict}, {"reason", string(r.Reason)}, {"risk", fmt.Sprint(r.Risk.Score)},
		{"assurance", string(r.Assurance.Level)}, {"tools", r.Assurance.Tools}, {"mcpaudit", r.Runner.Version},
		{"manifestDigest", r.ManifestDigest}, {"behaviorDigest", r.Behavior.Digest}, {"rulesetDigest", r.RulesetDigest},
	} {
		if p.Value = junitText(p.Value); p.Value != "" {
			all = append(all, p)
		}
	}
	return all
}
