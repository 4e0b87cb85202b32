package render

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxExposures bounds the exposures in the table; the JSON has all.
const maxExposures = 12

// exposure shows what the server enables, if anything, and by which of its capabilities.
func (p *page) exposure(r report.Report) {
	if r.Exposure == nil || len(r.Exposure.Items) == 0 {
		return
	}
	p.line("Exposure  %s", Escape(exposed(*r.Exposure, r.Verdict)))
	for _, item := range r.Exposure.Items[:min(len(r.Exposure.Items), maxExposures)] {
		p.line("%s%s: %s", indent, Escape(report.Cut(item.Capability.String(), 80)), Escape(enables(item)))
	}
	if more := len(r.Exposure.Items) + r.Exposure.Dropped - maxExposures; more > 0 {
		p.line("%sand %d more", indent, more)
	}
	for _, c := range r.Exposure.Combinations {
		p.line("%stogether, %s: %s", indent, Escape(family(string(c.Name))), Escape(c.Because))
	}
}

// exposed returns the exposure in one line: "62 High: network egress (Arbitrary), file read (Partial)".
func exposed(e report.Exposure, verdict report.Verdict) string {
	var kinds []string
	for _, k := range e.Kinds() {
		kinds = append(kinds, fmt.Sprintf("%s (%s)", family(string(k.Kind)), k.Reach))
	}
	if len(kinds) == 0 {
		kinds = []string{"declared only"}
	}
	text := fmt.Sprintf("%d %s: %s", e.Score, e.Level, strings.Join(kinds, ", "))
	if verdict == report.VerdictInconclusive {
		text += " (of what was seen)"
	}
	return text
}

// enables says what an item enables: "file read, Partial by path, below /data".
func enables(item report.ExposureItem) string {
	text := family(string(item.Kind)) + ", " + string(item.Reach)
	if item.Argument != "" {
		text += " by " + report.Cut(item.Argument, 120)
	}
	if item.Bound != "" {
		text += ", " + report.Cut(item.Bound, 160)
	}
	if item.Basis == report.BasisDeclared {
		text += " (declared, not seen)"
	}
	return text
}

// exposure says what the server enables.
func (m *markdown) exposure(r report.Report) {
	if r.Exposure == nil || len(r.Exposure.Items) == 0 {
		return
	}
	m.section("What it enables")
	m.line("%s: this is a description, and fails nothing.", prose(brief(exposed(*r.Exposure, r.Verdict), 400)))
	m.line("")
	for _, item := range r.Exposure.Items[:min(len(r.Exposure.Items), maxExposures)] {
		m.line("* %s: %s", code(brief(item.Capability.String(), 80)), prose(brief(enables(item), 300)))
	}
	if more := len(r.Exposure.Items) + r.Exposure.Dropped - maxExposures; more > 0 {
		m.line("* and %d more", more)
	}
	for _, c := range r.Exposure.Combinations {
		m.line("* together, %s: %s", prose(family(string(c.Name))), prose(brief(c.Because, 400)))
	}
}

// exposures returns notes about what the server enables, without what no argument decides
// and what is only declared.
func (s *sarifSource) exposures(book *ruleBook) (all []sarifResult) {
	if s.report.Exposure == nil {
		return nil
	}
	for _, item := range s.report.Exposure.Items {
		if item.Basis != report.BasisProven || !item.Reach.AtLeast(report.ReachBounded) {
			continue
		}
		text := fmt.Sprintf("%s enables %s", item.Capability, enables(item))
		made := s.result(ruleExposure, book.index(ruleExposure, exposureRule), "note", text, item.Capability, string(item.Kind))
		made.CodeFlows = s.evidence(report.Finding{Capability: item.Capability, Evidence: item.Evidence})
		all = append(all, made)
	}
	return all
}
