package render

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// badge is a picture with two fields, a title and a text. Lengths are in pixels.
type badge struct {
	Title, Text, Colour   string
	Left, Width           int
	TitleWidth, TextWidth int
}

// The colours of a badge have a contrast of at least 4.5 to white (WCAG 2.2, 1.4.3).
const (
	badgeGreen  = "#1b7a33"
	badgeYellow = "#7a6400"
	badgeRed    = "#b3261e"
	badgeGrey   = "#5f6368"
)

// badgeTemplate loads nothing, so that it can stand in any page.
var badgeTemplate = template.Must(template.New("badge").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" role="img" aria-label="{{.Title}}: {{.Text}}">
  <title>{{.Title}}: {{.Text}}</title>
  <clipPath id="r"><rect width="{{.Width}}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)"><rect width="{{.Width}}" height="20" fill="#3c4043"/><rect x="{{.Left}}" width="{{.Width}}" height="20" fill="{{.Colour}}"/></g>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="6" y="14" textLength="{{.TitleWidth}}">{{.Title}}</text>
    <text x="{{.Left}}" dx="6" y="14" textLength="{{.TextWidth}}">{{.Text}}</text>
  </g>
</svg>
`))

// Badge writes the verdict as a picture (SVG 1.1), with the assurance if that is not Full, and what was found.
func Badge(w io.Writer, r report.Report) error {
	b := badge{Title: "MCP audit"}
	b.Text, b.Colour = badgeText(r)
	b.TitleWidth, b.TextWidth = textWidth(b.Title), textWidth(b.Text)
	b.Left = b.TitleWidth + 12
	b.Width = b.Left + b.TextWidth + 12
	if err := badgeTemplate.Execute(w, b); err != nil {
		return fmt.Errorf("write badge: %w", err)
	}
	return nil
}

func badgeText(r report.Report) (text, colour string) {
	why := unseen(r)
	switch {
	case r.Verdict == report.VerdictFail && unexplained(r):
		return "fail: " + Escape(report.Cut(string(r.Reason), 40)), badgeRed
	case r.Verdict == report.VerdictFail:
		return "fail: " + report.Count(report.Counting(r.Findings)).String(), badgeRed
	case why != nil:
		return "inconclusive: " + Escape(report.Cut(string(why.Reason), 40)), badgeGrey
	case r.Assurance.Level == report.AssuranceFull:
		return "pass", badgeGreen
	}
	tools := r.Coverage.Tools
	return fmt.Sprintf("pass, %s: %d of %d tools", cmp.Or(string(r.Assurance.Level), "Weak"), tools.Accepted, tools.Listed), badgeYellow
}

// textWidth approximates the width of a text in Verdana at 11 pixels; the picture stretches the text to it.
func textWidth(text string) int { return utf8.RuneCountInString(text)*6 + 2 }
