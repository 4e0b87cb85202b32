package poison

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// known matches what a model knows and no address needs.
const known = `(?:secrets?|context|conversations?|(?:chat[ _-]?)?history|chat|transcript|summary|(?:system[ _-]?)?prompt|memory|everything|credentials?|passwords?|api_?keys?|user[ _-]?data|data)`

var (
	// picture is one whose address has a place that is to be filled: {conversation}, <data>.
	picture = lazyregexp.New(`(?im)(?:!\[[^\]\n]*\]\(\s*|<img\s[^<>]*?src\s*=\s*["']?|^\s*\[[^\]\n]+\]:\s*)` +
		`(https?://[^\s)"']*(?:\{|<|\[|%7B|%3C)[\w %-]*` + known + `[\w %-]*(?:\}|>|\]|%7D|%3E)[^\s)"']*)`)
	// address with a place in capitals, or with a value that is left open at its end.
	capitals = lazyregexp.New(`https?://[^\s)"'<>]*[=/]([A-Z][A-Z0-9_]{3,})\b`)
	open     = lazyregexp.New(`(?i)\b(?:append|add|attach|put|include|encode|concatenate|write)(?:ing)?\b[^.\n]{0,100}\b(?:` + talk + `)\b[^.\n]{0,60}?` +
		"(https?://[^\\s\"'`)<>]+[?&][\\w-]+=)(?:[\\s\"'`.)]|$)")
	filled = lazyregexp.New(`(?i)\b(?:` + talk + `)\b`)
)

// talk matches the conversation of user and model, and more that is nobody else's business.
const talk = `conversation|chat|transcript|history|system prompt|summary of (?:the|this|your|our)|everything|secrets?|(?:user|person|customer)(?:'s|s')?\s+(?:\w+\s+)?(?:message|messages|question|request|files?|data|words|input|name|email|address)`

// carrying finds an address that is to take along what the model knows: of a picture, which
// a client loads unasked, or one that the text says how to fill.
func carrying(text string) (Hidden, bool) {
	if !strings.Contains(text, "://") {
		return Hidden{}, false
	}
	if m := picture.FindStringSubmatch(text); m != nil {
		return Hidden{WayMarkup, "a picture whose address takes data along", m[1]}, true
	}
	if m := open.FindStringSubmatch(text); m != nil {
		return Hidden{WayMarkup, "an address that takes data along", m[1]}, true
	}
	for _, m := range capitals.FindAllStringSubmatchIndex(text, maxRuns) {
		name := text[m[2]:m[3]]
		if slices.ContainsFunc(fillings(name).FindAllString(text[:m[0]]+" "+text[m[1]:], maxRuns), filled.MatchString) {
			return Hidden{WayMarkup, "an address that takes data along", text[m[0]:m[1]]}, true
		}
	}
	return Hidden{}, false
}

// fillings matches a passage that says what a place is to be filled with.
func fillings(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:replac|substitut|fill|insert|encod|where|with)[^.\n]{0,100}\b` + regexp.QuoteMeta(name) + `\b[^.\n]{0,120}`)
}
