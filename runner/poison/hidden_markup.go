package poison

import (
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

var (
	// comments match what neither HTML nor Markdown shows.
	comments = []*lazyregexp.Regexp{
		lazyregexp.New(`(?s)<!--(.*?)-->`),
		lazyregexp.New(`(?m)^\s*\[(?://|comment|_)\]:\s*(?:#|<>)\s*["'(](.+)["')]`),
	}
	// unseen is an element with a style that shows nothing of it.
	unseen = lazyregexp.New(`(?is)<[a-z][a-z0-9]*\s[^<>]*?(?:\bhidden\b|style\s*=\s*["'](?:[^"'<>]*?[;\s])?(?:display\s*:\s*none|visibility\s*:\s*hidden|` +
		`font-size\s*:\s*0(?:px|pt|em|%|;|["'])|opacity\s*:\s*0(?:;|["'])|color\s*:\s*(?:white|transparent|#fff(?:fff)?)\b))[^<>]*>([^<]+)`)
)

// The least whitespace that puts a text out of view, in lines and columns.
const (
	minLines   = 20
	minColumns = 150
)

// hiddenMarkup finds instructions that a rendered text does not show. Comments and hidden
// elements without instructions are ordinary.
func hiddenMarkup(text string, in Place) (Hidden, bool) {
	for _, form := range comments {
		for _, m := range form.FindAllStringSubmatch(text, maxRuns) {
			if directs(m[1], in) {
				return Hidden{WayMarkup, "a comment that is not rendered", strings.TrimSpace(m[1])}, true
			}
		}
	}
	for _, m := range unseen.FindAllStringSubmatch(text, maxRuns) {
		if directs(m[1], in) {
			return Hidden{WayMarkup, "an element whose style shows nothing", strings.TrimSpace(m[1])}, true
		}
	}
	if h, ok := carrying(text); ok {
		return h, true
	}
	if in == Declared {
		return outOfView(text)
	}
	return Hidden{}, false
}

// directs reports whether a passage that is not shown gives instructions.
func directs(passage string, in Place) bool {
	return len(Inject(passage)) > 0 || in == Declared && imperative.MatchString(passage)
}

// outOfView finds a text behind more whitespace than a window shows.
func outOfView(text string) (Hidden, bool) {
	lines, columns := 0, 0
	for i, r := range text {
		switch {
		case r == '\n':
			lines, columns = lines+1, 0
		case unicode.IsSpace(r):
			columns++
		default:
			if i > lines+columns && (lines >= minLines || columns >= minColumns) {
				return Hidden{WayMarkup, "whitespace that puts it out of view", following(text[i:])}, true
			}
			lines, columns = 0, 0
		}
	}
	return Hidden{}, false
}
