package render

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// risk shows the risk and its parts.
func (p *page) risk(r report.Report) {
	if r.Risk.Level == "" {
		return // an older report has none
	}
	var parts []string
	for _, part := range r.Risk.Parts {
		if part.Points > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", family(part.Family), part.Points))
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

// family returns "command execution" for "CommandExecution".
func family(name string) string { return strings.ToLower(words.Spell(name)) }

// suppressed says until when a finding is or was accepted, and why.
func suppressed(s report.Suppressed) string {
	until := s.Until.UTC().Format("2006-01-02 15:04 UTC")
	if s.Expired {
		return fmt.Sprintf("was suppressed until %s and counts again: %s", until, s.Reason)
	}
	return fmt.Sprintf("suppressed until %s: %s", until, s.Reason)
}
