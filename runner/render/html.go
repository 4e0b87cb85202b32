package render

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
)

var (
	//go:embed html/page.css
	pageStyle string
	//go:embed html/page.tmpl
	pageText string
)

// HTML writes the report as one page that needs nothing else: no script, no file
// beside it, no host. It can be opened from a disk, mailed and printed.
//
// All that a server can influence is plain text on it: no element, attribute or address
// comes from the report. Invisible characters are written out and marked, so that they
// differ from a text that only spells them.
func HTML(w io.Writer, r report.Report) error {
	if err := pageTemplate().Execute(w, newHTMLPage(r)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"visible": visible, "size": size, "count": count, "percent": report.Share.Percent,
		"moment": func(m report.Moment) string { return cmp.Or(moments[m], string(m)) }, "source": func(s report.ScopeSource) string { return cmp.Or(sources[s], string(s)) },
		"owner": owner, "capability": func(k report.CapabilityKind, name string) string {
			return report.Capability{Kind: k, Name: name}.String()
		},
		"kind": func(k report.OutputKind) string { return strings.ToLower(string(k)) }, "clock": clock, "drift": driftRows,
		"lines": multiline, "skipped": skipped, "family": family, "destination": destination, "alias": alias,
	}).Parse(pageText))
})

// pagePolicy is the Content-Security-Policy of the page: its own style, and nothing
// else (CSP level 3, section 2.3.1).
var pagePolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
})

// piece is a part of a text, as it is shown.
type piece struct {
	Text string
	// Hidden: it stands for invisible characters.
	Hidden bool
}

// maxPieces bounds the pieces of a text. A text with more hidden characters is marked as a
// whole, or each of its bytes could cost an element.
const maxPieces = 33

// visible cuts a text into pieces that are shown as they are, and pieces that are written out.
func visible(of any) []piece {
	var all []piece
	text := fmt.Sprint(of)
	begin, hidden := 0, false
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		now := !Visible(r) || r == utf8.RuneError && size == 1
		if now != hidden && i > begin {
			all = append(all, piece{Escape(text[begin:i]), hidden})
			begin = i
		}
		hidden = now
	}
	if all = append(all, piece{Escape(text[begin:]), hidden}); len(all) > maxPieces {
		return []piece{{Escape(text), true}}
	}
	return all
}

// line is one line of a text.
type line struct {
	Text string
	Last bool
}

// multiline returns the lines of a text, such as a program's output or a diff.
func multiline(text string) []line {
	var all []line
	for l := range strings.Lines(strings.TrimRight(text, "\r\n")) {
		all = append(all, line{Text: strings.TrimRight(l, "\r\n")})
	}
	if n := len(all); n > 0 {
		all[n-1].Last = true
	}
	return all
}

// alias returns the address of a destination that is shown by its name, or the name that
// a name server was asked for.
func alias(c report.Capture) string {
	switch {
	case c.Host == "":
		return ""
	case c.Protocol == "dns":
		return c.Host
	}
	return c.Address
}

// clock formats a time in UTC.
func clock(t report.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
