package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Escape makes a text harmless on a terminal and in a log, on one line: whatever
// is not a visible character or an ASCII space is written as \n, \x1b or \u202e.
// That covers control characters and ANSI sequences, characters that change the
// direction of text (UAX #9) or have no width, line separators, and bytes that
// are no UTF-8.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Visible(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Visible reports whether a terminal only shows a character.
func Visible(r rune) bool { return unicode.IsPrint(r) && !blank(r) }

// blank are letters and marks that show nothing (Unicode's Default_Ignorable_Code_Point,
// without those that IsPrint refuses).
func blank(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// The ANSI colours (ECMA-48, SGR).
const (
	red    = "31"
	yellow = "33"
	green  = "32"
	cyan   = "36"
	bold   = "1"
)

var verdictColour = map[report.Verdict]string{
	report.VerdictPass: green, report.VerdictFail: red, report.VerdictInconclusive: yellow,
}

var severityColour = map[report.Severity]string{
	report.SeverityCritical: bold + ";" + red, report.SeverityHigh: red, report.SeverityMedium: yellow,
	report.SeverityLow: cyan, report.SeverityInfo: cyan,
}

// paint escapes a text and colours it.
func (p *page) paint(colour, text string) string { return paint(colour, text, p.colour) }

func paint(colour, text string, colours bool) string {
	if !colours || colour == "" {
		return Escape(text)
	}
	return "\x1b[" + colour + "m" + Escape(text) + "\x1b[0m"
}

// Verdict escapes a text, and gives it the colour of a verdict if colour is set.
func Verdict(v report.Verdict, text string, colour bool) string {
	return paint(verdictColour[v], text, colour)
}

// Severity escapes a text, and gives it the colour of a severity if colour is set.
func Severity(s report.Severity, text string, colour bool) string {
	return paint(severityColour[s], text, colour)
}
