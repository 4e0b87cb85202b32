package inputs

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// maxQuoted is how often a text is quoted within quotes, at most, for what is read of it.
const maxQuoted = 16

// escapings finds what quotes put before quotes, and what URLs and HTML put in their place.
var escapings = lazyregexp.New(`\\[\\"'/` + "`" + `]|\\u00[2-7][0-9A-Fa-f]|(?:%[2-7][0-9A-Fa-f])+|&(?:quot|amp|apos|lt|gt|#\d{2,3});`)

// unescaped is a text without the escapes that quoting has put into it, once or again and again.
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

// undo returns what one escape stands for.
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

// stripped is a text without what quotes and escapes put into it and around it.
func stripped(text string) string { return strings.Trim(unescaped(text), " \t\r\n'\"`‘’“”\\") }

// echoes are those of some words of an error that are no advice: they are, or have in them,
// what the call was made with. With more around it, it is advice where the error says so: "did you mean", "use".
func (c Case) echoes(text string) func(word string) bool {
	complaint := text[:min(listing(text), advising(text))]
	return func(word string) bool {
		if _, ours := Marked(word); ours || echo(word) || HoldsInjection(word) {
			return true
		}
		word = stripped(word)
		return slices.ContainsFunc(c.placed, func(p placed) bool {
			value := stripped(p.value)
			return word == value || len(value) > 2 && speaksOf(word, value) && strings.Contains(complaint, word)
		})
	}
}

// offered are the values that an error offers which the call was not made with.
func (c Case) offered(text string) []string {
	text = unescaped(text)
	return slices.DeleteFunc(named(text), c.echoes(text))
}

// listing is where a text begins to list what can be had; its end where it lists nothing.
func listing(text string) int {
	for _, at := range listed.FindAllStringIndex(text, maxOffers) {
		if !negated.MatchString(text[max(0, at[0]-16):at[0]]) {
			return at[0]
		}
	}
	return len(text)
}

// advising is where a text begins to say what to give instead: an order at the beginning of a clause, or an
// example; its end where there is none. "Failed to use X" and "use of X" are none.
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

// negated finds what makes "a valid name" the opposite.
var negated = lazyregexp.New(`(?i)(?:\b(?:no|not|never|without)|n't)(?: (?:an?|any|one of|the))? ?$`)
