package inputs

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// blamed returns the values that an error names, or quotes a part of, before it lists what
// is allowed; if it names none, the values of the arguments that it names.
func (c Case) blamed(text string) []placed {
	complaint := text
	if at := listing(text); at > 0 {
		complaint = text[:at]
	}
	if found := c.named(complaint); len(found) > 0 {
		return culprits(text, found)
	}
	for _, text := range quoted(complaint) {
		for _, p := range c.placed {
			if len(text) > 2 && speaksOf(p.value, text) || cutFrom(p.value, text) {
				return []placed{{p.at, p.name, text, p.value}}
			}
		}
	}
	if found := c.named(text); len(found) > 0 {
		return culprits(text, found)
	}
	return c.unnamed(text)
}

// unnamed returns the values that an error is about, though it names none.
func (c Case) unnamed(text string) (found []placed) {
	for _, p := range c.placed {
		if p.name != "" && speaksOf(text, p.name) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0 && len(c.placed) == 1 && informative(text):
		return c.placed
	case len(found) == 0 && (notRepository.MatchString(text) || outside.MatchString(text)):
		return slices.DeleteFunc(slices.Clone(c.placed), func(p placed) bool { return !strings.HasPrefix(p.value, "/") })
	}
	return found
}

// named returns the values that a text names.
func (c Case) named(text string) (found []placed) {
	for _, p := range c.placed {
		if len(p.value) > 2 && speaksOf(text, p.value) || quotesIt(text, p.value) {
			found = append(found, p)
		}
	}
	return found
}

// cutFrom reports whether a text is the beginning of a value, cut off within a word, as JSON.parse quotes it.
func cutFrom(value, text string) bool { return len(text) > 7 && strings.HasPrefix(value, text) }

// quotesIt reports whether a text quotes another.
func quotesIt(text, part string) bool {
	return part != "" && slices.ContainsFunc([]string{"'", `"`, "`"}, func(quote string) bool { return strings.Contains(text, quote+part+quote) })
}

// What an error says about the value before it, and about the value after it.
var (
	saysBefore = lazyregexp.New(`(?i)\b(?:(?:do(?:es)?|did|could|can|was|is|are) ?n[o']t|not found|not be found|already|outside|must|should|has to|has no|is (?:no|a|an|invalid|required))\b`)
	saysBehind = lazyregexp.New(`(?i)\b(?:no such \w+|no \w+ (?:named|called|with|found for)|(?:cannot|could not|couldn't|can't|failed to|unable to) (?:find|open|locate|load|read|parse)|` +
		`unknown|invalid|unsupported|bad|unexpected|duplicate)\b`)
)

// culprits returns the values that an error complains of, out of those that it names: X in "X is
// outside the repository Y". Of equal values, it returns the one of the argument
// that the error names, or that names something new.
func culprits(text string, found []placed) []placed {
	kept := found
	if all := saysBehind.FindAllStringIndex(text, -1); len(all) > 0 {
		at := all[len(all)-1] // an error ends with its cause
		kept = closest(found, func(value string) int { return strings.Index(text[at[1]:], value) })
	} else if at := saysBefore.FindStringIndex(text); at != nil {
		kept = closest(found, func(value string) int {
			if i := strings.LastIndex(text[:at[0]], value); i >= 0 {
				return at[0] - i - len(value)
			}
			return -1
		})
	}
	if len(kept) < 2 {
		return kept
	}
	exists, words := present.MatchString(text), nouns(text)
	for _, fits := range []func(placed) bool{
		func(p placed) bool { return has(split(p.name), newWords) == exists },
		func(p placed) bool { return has(split(p.name), words) },
	} {
		if some := slices.DeleteFunc(slices.Clone(kept), func(p placed) bool { return !fits(p) }); len(some) > 0 {
			kept = some
		}
	}
	return kept
}

// closest returns the values with the least distance, or all if none has a distance. A
// negative distance is none.
func closest(found []placed, distance func(value string) int) (kept []placed) {
	least := -1
	for _, p := range found {
		d := distance(p.value)
		if d < 0 || least >= 0 && d > least {
			continue
		}
		if d != least {
			least, kept = d, nil
		}
		kept = append(kept, p)
	}
	if least < 0 {
		return found
	}
	return kept
}

// informative reports whether an error says something about a value that it does not name.
func informative(text string) bool {
	return asksForm(text) || ending.MatchString(text) || absent.MatchString(text) || present.MatchString(text) || outside.MatchString(text)
}

// speaksOf reports whether a text contains another as whole words.
func speaksOf(text, part string) bool { return indexWord(text, part) >= 0 }

// indexWord returns where a text first contains another as whole words; -1 for nowhere.
func indexWord(text, part string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], part)
		if at < 0 || part == "" {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(part):])
		if !isWord(before) && !isWord(after) {
			return at
		}
		from = at + 1
	}
}

// isWord reports whether a letter joins words: those of Chinese and Japanese have no blanks between them.
func isWord(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
