package report

import (
	"strings"
	"unicode/utf8"
)

// CutMark stands where a text was cut.
const CutMark = "…"

// Cut returns a text in at most so many bytes of valid UTF-8, and marks where it was cut.
// The mark counts. It looks at no more of a text than it can keep.
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

// WasCut reports whether Cut may have cut a text to so many bytes: it ends with the mark,
// and another rune would not have fit.
func WasCut(text string, most int) bool {
	return len(text) > most-len(CutMark)-utf8.UTFMax && strings.HasSuffix(text, CutMark)
}

// Head returns the beginning of a text: at most so many bytes, in whole runes, unmarked.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
