package verdict

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// named is the number of findings in a message; the status has more, and the report has all.
const named = 3

// failMessage describes the worst findings to a newcomer.
func failMessage(in Input, counts string, held comparison) string {
	parts := []string{excerpt.Sentence(excerpt.Capital(counts))}
	if in.Report != nil {
		parts = append(parts, worst(*in.Report, threshold(in.FailOn))...)
	}
	if held.drift != nil {
		parts = append(parts, "The manifest is not the one of the baseline either: see ManifestStable.")
	}
	if in.ReportName != "" {
		parts = append(parts, fmt.Sprintf("The evidence is in status.topFindings and, in full, in the MCPAuditReport %s.", in.ReportName))
	}
	return strings.Join(parts, " ")
}

// worst describes the findings at or above the threshold.
func worst(r report.Report, threshold report.Severity) []string {
	var told []string
	above := 0
	for _, severity := range append([]report.Severity{""}, report.Severities...) {
		for _, f := range report.Counting(r.Findings) {
			if !ranks(f.Severity, severity) || severity != "" && !severity.AtLeast(threshold) {
				continue
			}
			if above++; above <= named {
				told = append(told, fmt.Sprintf("[%s] %s", f.Severity, excerpt.Sentence(excerpt.Capital(excerpt.Line(f.Message, 240)))))
			}
		}
	}
	if above > named {
		told = append(told, fmt.Sprintf("And %d more.", above-named))
	}
	return told
}

// ranks reports whether a finding has a severity; "" matches unknown ones, which come first as
// in report.Count.
func ranks(of, severity report.Severity) bool {
	if severity == "" {
		return of.Rank() < 0
	}
	return of == severity
}
