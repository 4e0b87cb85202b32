// Package excerpt prepares texts that a hostile server had a say in: it cuts them before they
// are written to a status or an event.
package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Cut returns s in at most limit bytes of JSON, quotes not counted, and marks
// where it was cut. Bytes are counted as encoding/json writes them, so a text
// full of quotes, controls or angle brackets takes no more room than another.
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

// width is the number of bytes that encoding/json writes for a rune.
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

// Line is Cut for a text that is shown to people: on one line, without what could hide or
// reorder a part of it. Controls (C0 and C1), line breaks, bidirectional overrides, and
// what takes no room become blanks.
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

// Sentence ends a text with a full stop, unless it has an end: of its own, of
// what it quotes, or where it was cut.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"')]`))
	if s == "" || strings.ContainsRune(".!?…", end) {
		return s
	}
	return s + "."
}

// Capital begins a text with a capital letter.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
