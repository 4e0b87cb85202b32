package poison

import (
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxHidden bounds the searched text in bytes: no text kept of a server is longer.
const maxHidden = 256 << 10

// Way is a way to hide from people a text that a model still reads.
type Way string

// The ways.
const (
	// WayUnicode: invisible characters, or characters that reorder others.
	WayUnicode Way = "Unicode"
	// WayTerminal: terminal escape sequences.
	WayTerminal Way = "Terminal"
	// WayEncoded: encodings that a model reads and a person does not.
	WayEncoded Way = "Encoded"
	// WayMarkup: text that rendered HTML and Markdown do not show, or that lies
	// outside the window.
	WayMarkup Way = "Markup"
)

// Ways lists all ways.
var Ways = []Way{WayUnicode, WayTerminal, WayEncoded, WayMarkup}

// Place says where a text stands, which decides what is ordinary in it.
type Place int

// The places.
const (
	// Declared is a text of the manifest, written by the server's author.
	Declared Place = iota
	// Answered is an output: documents, pages and the output of programs ordinarily
	// have colours, encodings and styles.
	Answered
)

// Hidden is a passage that a model reads and people do not see.
type Hidden struct {
	Way Way
	// How says what hides it: "variation selectors".
	How string
	// Says is the decoded passage; "" if empty or unknown.
	Says string
}

// Directs reports whether the passage gives instructions.
func (h Hidden) Directs() bool {
	return imperative.MatchString(h.Says) || command.MatchString(h.Says) || tells(h.Says, Declared) != ""
}

// Hide finds the passages of a text that are hidden in one way: the first for each means
// of hiding.
func Hide(text string, in Place, way Way) []Hidden {
	text = report.Head(text, maxHidden)
	if way == WayUnicode {
		return hiddenUnicode(text, in)
	}
	find := map[Way]func(string, Place) (Hidden, bool){
		WayTerminal: hiddenTerminal, WayEncoded: hiddenEncoded, WayMarkup: hiddenMarkup,
	}[way]
	if h, ok := find(text, in); ok {
		return []Hidden{h}
	}
	return nil
}

// readable reports whether decoded bytes are a text: nearly all is printable, and most
// are letters and spaces.
func readable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	printable, letters, all := 0, 0, 0
	for _, r := range text {
		all++
		switch {
		case r == ' ', unicode.IsLetter(r):
			letters++
			printable++
		case r >= 0x20 && r < 0x7f, r == '\n', r == '\t', r == '\r', r >= 0xa0 && r != utf8.RuneError:
			printable++
		}
	}
	return all >= 4 && printable*20 >= all*19 && letters*2 >= all
}
