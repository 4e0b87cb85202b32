package poison

import (
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxHidden bounds the text that is searched for what it hides, in bytes: as long
// as anything that is kept of a server.
const maxHidden = 256 << 10

// Way is a way to hide a text from people that a model reads all the same.
type Way string

// The ways.
const (
	// WayUnicode: characters without a shape, or that reorder others.
	WayUnicode Way = "Unicode"
	// WayTerminal: sequences that a terminal obeys and does not show.
	WayTerminal Way = "Terminal"
	// WayEncoded: an encoding that a model decodes at a glance and a person does not.
	WayEncoded Way = "Encoded"
	// WayMarkup: what HTML and Markdown leave out when they are rendered, or what
	// lies beyond the window.
	WayMarkup Way = "Markup"
)

// Ways lists all ways.
var Ways = []Way{WayUnicode, WayTerminal, WayEncoded, WayMarkup}

// Place says what a text is, and so what is ordinary in it.
type Place int

// The places.
const (
	// Declared is a text of the manifest, written by who wrote the server.
	Declared Place = iota
	// Answered is a text of an output: a document, a page, the output of a program,
	// in which colours, encodings and styles are ordinary.
	Answered
)

// Hidden is a passage that people do not see as a model does.
type Hidden struct {
	Way Way
	// How names what hides it, in words: "variation selectors".
	How string
	// Says has what it says, decoded; "" where that is nothing, or not known.
	Says string
}

// Directs reports whether the passage asks for something.
func (h Hidden) Directs() bool {
	return imperative.MatchString(h.Says) || command.MatchString(h.Says) || tells(h.Says, Declared) != ""
}

// Hide finds the passages of a text that are hidden in one way: of each thing that
// hides at most one, the first.
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

// readable reports whether a text that was decoded is one: nearly all of it is
// printable, and most are letters and spaces.
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
