package report

import (
	"strings"
	"unicode/utf8"
)

// CutMark marks where a text was cut.
const CutMark = "…"

// Cut cuts a text to at most so many bytes of valid UTF-8, including the CutMark of a cut. It
// reads no more of the text than it keeps.
func Cut(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "?")
	}
	text = strings.ToValidUTF8(Head(text, max(most-len(CutMark), 0)), "?")
	if text == "" {
		return ""
	}
	return text + CutMark
}

// WasCut reports whether Cut may have cut a text to so many bytes: the text ends with the
// mark and has no room for another rune.
func WasCut(text string, most int) bool {
	return len(text) > most-len(CutMark)-utf8.UTFMax && strings.HasSuffix(text, CutMark)
}

// Head returns the first whole runes of a text, at most so many bytes, without a mark.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
