package poison

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// A text in a language without word lists is not read. It is recognised by its letters and by
// the commonest words of each language, of which every longer text has several.

var commonWords = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for language, list := range words.Read[map[string]set]("common") {
		for word := range list {
			plain := plainLetters(word)
			of[plain] = append(of[plain], language)
		}
	}
	return of
})

// englishWords has the words of all classes: English notes often lack the commonest words.
var englishWords = sync.OnceValue(func() set {
	all := set{}
	for _, classes := range []map[string]set{lexicon.Words, lexicon.Verbs} {
		for name := range classes {
			for word := range classes[name] {
				all[word] = true
			}
		}
	}
	return union(all, governing)
})

// read are the scripts of the languages that are read. Single letters of others, such as
// Greek, are signs in many texts.
var read = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Arabic, unicode.Devanagari, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Common, unicode.Inherited,
}

// The least evidence of an unknown language: letters of an unknown script, and words of a
// sentence of which fewer than one in oneInCommon is common.
const (
	leastLetters = 6
	leastWords   = 8
	oneInCommon  = 12
)

// foreignWords counts the words of a sentence; unread is set if it is in no language that is read.
func foreignWords(s *sentence) (n int, unread bool) {
	strange, terms := 0, 0
	hits, distinct := map[string]int{}, set{}
	for i, t := range s.Tokens {
		if t.Kind != words.Word {
			continue
		}
		if letters := strangeLetters(t.Raw); letters > 1 {
			strange += letters
			continue
		}
		if prose(t.Raw) && !s.item(i) {
			n++
			if englishWords()[t.Text] || englishEnds(t.Text) {
				terms++
			}
		}
		word := plainLetters(t.Raw)
		if distinct[word] {
			continue
		}
		distinct[word] = true
		for _, language := range commonWords()[word] {
			hits[language]++
		}
	}
	most, others := byLanguage(hits)
	if strange >= leastLetters {
		return max(n, strange/2), true
	}
	switch {
	case n < leastWords || terms*3 >= n:
		return n, false
	case others > most+1:
		return n * leastUnread / leastWords, true
	}
	return n, most < 2 || most*oneInCommon < n
}

// byLanguage returns how many words are common in the best language that is read, and in the best other.
func byLanguage(hits map[string]int) (most, others int) {
	for language, count := range hits {
		if slices.ContainsFunc(tongues, func(t tongue) bool { return t.name == language }) {
			most = max(most, count)
		} else {
			others = max(others, count)
		}
	}
	return most, others
}

// englishEnds reports whether a word has an English suffix.
func englishEnds(word string) bool {
	return slices.ContainsFunc([]string{"ing", "tion", "tions", "ed", "ly", "able", "ness", "er", "ers", "ity", "ies"}, func(end string) bool {
		return len(word) > len(end)+2 && strings.HasSuffix(word, end)
	})
}

// strangeLetters counts the letters of scripts that are not read.
func strangeLetters(word string) int {
	n := 0
	for _, r := range word {
		if unicode.IsLetter(r) && !unicode.In(r, read...) {
			n++
		}
	}
	return n
}

// prose reports whether a word is an ordinary one: no name, number or sign.
func prose(word string) bool {
	for i, r := range word {
		switch {
		case i == 0 && unicode.IsUpper(r), words.IsUnspaced(r), !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’':
			return false
		case i > 0 && unicode.IsUpper(r):
			return false
		}
	}
	return true
}

// item reports whether a word stands alone in a list: "cafe, campsite, car".
func (s *sentence) item(i int) bool {
	parts := func(j int) bool { return j < 0 || j >= len(s.Tokens) || s.Tokens[j].Kind == words.Mark }
	return parts(i-1) && parts(i+1)
}

// leastUnread is the least number of unread words that count.
const leastUnread = 12

// Unread reports whether a text, or a part of it, is in a language that Read cannot read.
func Unread(text string) bool {
	if len(text) < minText {
		return false
	}
	sum := 0
	text = fold(text[:min(len(text), maxText)])
	all := split(text)
	for i := range all {
		if n, unread := foreignWords(&all[i]); unread {
			sum += n
		}
	}
	return sum >= leastUnread
}
