package render

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// What is found of several tools in the same words is said once, with the names of all.
func TestAlike(t *testing.T) {
	of := func(rule, tool, message string) report.Finding {
		return report.Finding{Rule: rule, Severity: report.SeverityHigh, Message: message, Capability: report.Capability{Kind: report.CapabilityTool, Name: tool}}
	}
	r := report.Report{Findings: []report.Finding{
		of("MCPA-FILE-001", "a", "Tool a read /etc/shadow."),
		of("MCPA-FILE-001", "b", "Tool b read /etc/shadow."),
		of("MCPA-FILE-001", "c", "Tool c read /etc/passwd."),
		of("MCPA-FILE-001", "a", "After its response, tool a read /etc/shadow."),
		of("MCPA-EXEC-001", "a", "Tool a read /etc/shadow."),
		of("MCPA-FILE-001", "\x1b[2J", "Tool \x1b[2J read /etc/shadow."),
	}}
	held := of("MCPA-FILE-001", "d", "Tool d read /etc/shadow.")
	held.Suppressed = &report.Suppressed{Reason: "known"}
	r.Findings = append(r.Findings, held, report.Finding{Rule: "MCPA-FILE-001"})
	if groups := alike(r.Findings); len(groups) != 6 || len(groups[0]) != 3 {
		t.Errorf("%d groups: %+v", len(groups), groups)
	}
	var table, text strings.Builder
	if err := Table(&table, r, false); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&text, r); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"table": table.String(), "markdown": text.String()} {
		if strings.Count(out, "the same of 2 more: tool b, tool ") != 1 || strings.Contains(out, "\x1b") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
