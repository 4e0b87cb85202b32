package render

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// risk says how bad it could be, and by what.
func (p *page) risk(r report.Report) {
	if r.Risk.Level == "" {
		return // an older report has none
	}
	var parts []string
	for _, part := range r.Risk.Parts {
		if part.Points > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", words(part.Family), part.Points))
		}
	}
	text := fmt.Sprintf("Risk  %d %s", r.Risk.Score, r.Risk.Level)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Verdict == report.VerdictInconclusive {
		text += " (of what was seen)"
	}
	p.line("%s", Escape(text))
}

// words is "command execution" for "CommandExecution".
func words(camel string) string {
	var all strings.Builder
	for i, r := range camel {
		if i > 0 && unicode.IsUpper(r) {
			all.WriteByte(' ')
		}
		all.WriteRune(unicode.ToLower(r))
	}
	return all.String()
}

// suppressed says until when a finding is accepted, or was, and why.
func suppressed(s report.Suppressed) string {
	until := s.Until.UTC().Format("2006-01-02 15:04 UTC")
	if s.Expired {
		return fmt.Sprintf("was suppressed until %s and counts again: %s", until, s.Reason)
	}
	return fmt.Sprintf("suppressed until %s: %s", until, s.Reason)
}
