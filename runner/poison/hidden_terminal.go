package poison

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Control sequences (ECMA-48). The C1 forms have to have a parameter: by themselves
// they are quotation marks that were decoded as Latin-1.
var (
	control = lazyregexp.New("\x1b\\[[0-?]*[ -/]*[@-~]|\u009b[0-9;?]+[ -/]*[@-~]" + // CSI
		"|(?:\x1b\\]|\u009d[0-9]+;)[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)?" + // OSC
		"|\x1b[PX^_][^\x07\x1b\u009c]*(?:\x1b\\\\|\u009c)?" + // DCS, SOS, PM, APC
		"|\x1b[^\\[\\]PX^_]?")
	// drawn are the sequences that programs colour and redraw their lines with: SGR,
	// erase in line, show and hide the cursor.
	drawn = lazyregexp.New("^(?:\x1b\\[|\u009b)(?:[0-9;:]*m|[0-2]?K|\\?25[hl])$")
	// concealing is SGR 8: what follows has no colour.
	concealing = lazyregexp.New("^(?:\x1b\\[|\u009b)(?:[0-9;]*;)?0?8m$")
	extended   = lazyregexp.New("[34]8[;:](?:5[;:][0-9]+|2[;:][0-9]*[;:][0-9]*[;:][0-9]+)")
	hyperlink  = lazyregexp.New("^(?:\x1b\\]|\u009d)8;[^;]*;(.*?)(?:\x07|\x1b\\\\|\u009c)?$")
)

// hiddenTerminal finds escape sequences. A manifest has no use for any; in an output,
// colours are ordinary unless they conceal.
func hiddenTerminal(text string, in Place) (Hidden, bool) {
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") {
		return Hidden{}, false
	}
	for _, at := range control.FindAllStringIndex(text, 4096) {
		sequence := text[at[0]:at[1]]
		conceals := concealing.MatchString(extended.ReplaceAllString(sequence, "39"))
		if in == Answered && (!conceals && drawn.MatchString(sequence) || isBinary(text, at[0], at[1])) {
			continue
		}
		h := Hidden{Way: WayTerminal, How: "an escape sequence for terminals"}
		link := hyperlink.FindStringSubmatch(sequence)
		switch {
		case link != nil:
			h.How, h.Says = "a terminal hyperlink (OSC 8)", link[1]
		case conceals:
			h.How = "a terminal colour that conceals (SGR 8)"
			h.Says = Plain(following(text[at[1]:]))
		default:
			h.Says = Plain(following(text[at[1]:]))
		}
		return h, true
	}
	return Hidden{}, false
}

// isBinary reports whether a sequence stands in binary data returned as text: it is an ESC
// with any letter, or the bytes around it are no text.
func isBinary(text string, start, end int) bool {
	sequence := text[start:end]
	if sequence[0] == '\x1b' && (len(sequence) == 1 || !strings.ContainsAny(sequence[1:2], "[]PX^_")) {
		return true
	}
	return strings.ContainsAny(text[max(0, start-32):min(len(text), end+32)], "\x00\ufffd")
}

// Plain returns a text without escape sequences.
func Plain(text string) string { return control.ReplaceAllString(text, "") }

// following returns the first line of a text.
func following(text string) string {
	line, _, _ := strings.Cut(report.Head(text, 400), "\n")
	return strings.TrimSpace(strings.ToValidUTF8(line, ""))
}
