package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// maxMarkdown bounds the text in bytes: a comment on GitHub has at most 65,536 characters.
const maxMarkdown = 60_000

// Markdown writes the report for a comment on a change: the verdict first, then what
// the server did and does not declare, and what was not seen. See prose for how the
// server's texts are kept from being Markdown.
func Markdown(w io.Writer, r report.Report) error {
	m := &markdown{}
	m.verdict(r)
	m.findings(r)
	m.exposure(r)
	m.baseline(r.Baseline)
	m.drifts(r.Drifts)
	m.notSeen(r)
	m.facts(r)
	if m.left > 0 {
		fmt.Fprintf(&m.text, "\n%s left out for want of room: `mcpaudit show -o table` has all of it.\n", were(m.left, "line"))
	}
	if _, err := io.WriteString(w, m.text.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// markdown builds the text; left is how many lines had no room.
type markdown struct {
	text strings.Builder
	left int
}

// line writes one line. Its arguments are Markdown.
func (m *markdown) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	if m.text.Len()+len(text) > maxMarkdown {
		m.left++
		return
	}
	m.text.WriteString(text)
}

func (m *markdown) section(title string) { m.line("\n### %s\n", title) }

// marks are the verdicts at a glance.
var marks = map[report.Verdict]string{report.VerdictPass: "✅", report.VerdictFail: "❌", report.VerdictInconclusive: "❓"}

func (m *markdown) verdict(r report.Report) {
	verdict, message := r.Verdict, r.Message
	why := unseen(r)
	if why != nil && verdict != report.VerdictFail {
		verdict, message = report.VerdictInconclusive, why.Message
	}
	name := code(brief(strings.TrimSpace(serverName(r)+" "+r.Server.Version), 200))
	m.line("## %s mcpaudit: %s, %s\n", marks[verdict], verdict, name)
	switch {
	case verdict == report.VerdictInconclusive:
		m.line("**Not everything was seen (%s): this is no pass.** %s", code(brief(string(why.Reason), 64)), prose(brief(message, 600)))
	case why != nil:
		m.line("%s\n\n**And not everything was seen (%s).** %s", prose(brief(message, 600)), code(brief(string(why.Reason), 64)), prose(brief(why.Message, 600)))
	default:
		m.line("%s", prose(brief(message, 600)))
	}
	if r.Risk.Level != "" {
		of := ""
		if why != nil {
			of = ", of what was seen"
		}
		m.line("\nRisk: **%d of 100, %s**%s", r.Risk.Score, prose(brief(string(r.Risk.Level), 16)), of)
	}
}

// findings returns the findings that fail the audit, then the others, then the suppressed
// ones.
func (m *markdown) findings(r report.Report) {
	var failing, minor, held []report.Finding
	for _, f := range r.Findings {
		switch {
		case !counts(f):
			held = append(held, f)
		case fails(f, r.FailOn):
			failing = append(failing, f)
		default:
			minor = append(minor, f)
		}
	}
	m.table("What it did that it does not declare", failing)
	m.table("Findings that do not fail the audit", minor)
	m.table("Suppressed", held)
	m.evidence(failing)
}

func (m *markdown) table(title string, findings []report.Finding) {
	if len(findings) == 0 {
		return
	}
	m.section(title)
	m.line("| Severity | What was seen | Where | Rule |")
	m.line("|---|---|---|---|")
	for _, group := range alike(findings) {
		f, text := group[0], prose(brief(group[0].Message, 400))
		if more := others(group); more != "" {
			text += " (" + prose(more) + ")"
		}
		if f.Suppressed != nil {
			text += " (" + prose(brief(suppressed(*f.Suppressed), 300)) + ")"
		}
		m.line("| **%s** | %s | %s | %s |", cmp.Or(prose(brief(string(f.Severity), 16)), "Unknown"), text, prose(brief(f.Capability.String(), 80)), rule(f.Rule))
	}
}

// rule links the explanation of a known rule.
func rule(id string) string {
	if _, ok := rules.Find(id); ok {
		return fmt.Sprintf("[%s](%s#%s)", id, rulesPage, strings.ToLower(id))
	}
	return code(brief(id, 64))
}

func (m *markdown) evidence(findings []report.Finding) {
	if len(findings) == 0 {
		return
	}
	m.section("Evidence")
	for _, group := range alike(findings) {
		f := group[0]
		m.line("* %s %s, %s", rule(f.Rule), prose(brief(f.Capability.String(), 80)), prose(where(f)))
		for _, e := range f.Evidence {
			text := e.Detail
			if e.PID != 0 {
				text = fmt.Sprintf("%s pid %d: %s", e.Time.UTC().Format("15:04:05.000000"), e.PID, e.Detail)
			}
			m.line("  * %s", cmp.Or(code(brief(text, 240)), "no detail"))
		}
		if f.Mitigation != "" {
			m.line("  * Mitigation: %s", prose(brief(f.Mitigation, 300)))
		}
	}
}

// brief escapes a text and cuts it to a length.
func brief(text string, most int) string { return report.Cut(Escape(text), most) }

// were returns "1 line is", "2 lines are".
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", n, noun)
}
