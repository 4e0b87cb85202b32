// Package excerpt cuts texts that a hostile server influenced, before they are written to a
// status or an event.
package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Cut returns s in at most limit bytes of JSON, without quotes, and marks the cut. Bytes count
// as encoding/json writes them, so a text full of quotes, controls or angle brackets gets no
// more room than another.
func Cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	used, fits := 0, 0 // bytes of JSON so far; bytes of s that leave room for the mark
	for i, r := range s {
		used += width(r)
		if used > limit {
			return s[:fits] + report.CutMark
		}
		if used+len(report.CutMark) <= limit {
			fits = i + utf8.RuneLen(r)
		}
	}
	return s
}

// width returns the bytes that encoding/json writes for a rune.
func width(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < 0x20 || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return 6
	default:
		return utf8.RuneLen(r)
	}
}

// Line is Cut for a single line of display text: controls (C0 and C1), line breaks,
// bidirectional overrides and zero-width characters become blanks, so nothing can hide or
// reorder a part of it.
func Line(s string, limit int) string {
	return Cut(strings.Map(func(r rune) rune {
		if isVisible(r) {
			return r
		}
		return ' '
	}, s), limit)
}

// blankBraille is a printable symbol that looks like a space.
const blankBraille = '\u2800'

func isVisible(r rune) bool {
	return unicode.IsPrint(r) && r != blankBraille && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Sentence adds a full stop, unless the text ends already: by itself, by what it quotes, or by
// a cut.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"')]`))
	if s == "" || strings.ContainsRune(".!?…", end) {
		return s
	}
	return s + "."
}

// Capital capitalises the first letter.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
