package inputs

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxQuoted bounds the nesting of quotations that are unescaped.
const maxQuoted = 16

// escapings matches the escapes of quotations, URLs and HTML.
var escapings = lazyregexp.New(`\\[\\"'/` + "`" + `]|\\u00[2-7][0-9A-Fa-f]|(?:%[2-7][0-9A-Fa-f])+|&(?:quot|amp|apos|lt|gt|#\d{2,3});`)

// unescaped returns a text without the escapes of quoting, which may be nested.
func unescaped(text string) string {
	for range maxQuoted {
		plain := escapings.ReplaceAllStringFunc(text, undo)
		if plain == text {
			break
		}
		text = plain
	}
	return text
}

// undo returns the character that an escape stands for.
func undo(escape string) string {
	switch {
	case strings.HasPrefix(escape, `\u00`):
		escape = "%" + escape[len(`\u00`):]
	case escape[0] == '\\':
		return escape[1:]
	case escape[0] == '&':
		return html.UnescapeString(escape)
	}
	plain, err := url.PathUnescape(escape)
	if err != nil {
		return escape
	}
	return plain
}

// stripped returns a text without quotes and escapes.
func stripped(text string) string { return strings.Trim(unescaped(text), " \t\r\n'\"`‘’“”\\") }

// echoes returns those words of an error that repeat the call's arguments, and are not advice. Words with more around
// an argument are advice if the error says so: "did you mean", "use".
func (c Case) echoes(text string) func(word string) bool {
	complaint := text[:min(listing(text), advising(text))]
	return func(word string) bool {
		if _, ours := Marked(word); ours || echoed.MatchString(word) || HoldsInjection(word) {
			return true
		}
		word = stripped(word)
		return slices.ContainsFunc(c.placed, func(p placed) bool {
			value := stripped(p.value)
			return word == value || cutFrom(value, word) || len(value) > 2 && speaksOf(word, value) && strings.Contains(complaint, word)
		})
	}
}

// offered returns the values that an error offers, other than those of the call.
func (c Case) offered(text string) []string {
	text = unescaped(text)
	return slices.DeleteFunc(named(text), c.echoes(text))
}

// listing returns where a text begins to list the choices; its end if it lists none.
func listing(text string) int {
	for _, at := range listed.FindAllStringIndex(text, maxOffers) {
		if !negated.MatchString(text[max(0, at[0]-16):at[0]]) {
			return at[0]
		}
	}
	if at := labelled.FindStringIndex(text); at != nil && absent.MatchString(text) {
		return at[0]
	}
	return len(text)
}

// advising returns where a text begins to say what to use instead: an imperative at the beginning of a clause, or an
// example; its end if there is none. "Failed to use X" and "use of X" are not imperatives.
func advising(text string) int {
	for _, at := range advice.FindAllStringIndex(text, maxOffers) {
		if !strings.HasPrefix(text[at[1]:], " of") {
			return at[1]
		}
	}
	return len(text)
}

var advice = lazyregexp.New(`(?i)(?:^|[.,;:!?()\n–—-]|\b(?:please|instead|must|should|or|and|then))\s*(?:use|pass|provide|specify|give|enter|supply)\b` +
	`|\be\.g\.|\b(?:for example|for instance|example:|such as|looks? like|formatted as|in the (?:form|format)|format (?:is|must|should))`)

// negated matches words that turn "a valid name" into the opposite.
var negated = lazyregexp.New(`(?i)(?:\b(?:no|not|never|without)|n't)(?: (?:an?|any|one of|the))? ?$`)
