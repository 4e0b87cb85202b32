package poison

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// phrase is an entry of a word list.
type phrase struct {
	letters string
	tongue  int // index of tongues
	part    part
	// open: any ending may follow.
	open bool
	// tones are the marks on the letters, in a language where they distinguish words.
	tones []uint16
}

// phraseBook has the phrases by their first two letters, or their only one. It is read when
// needed: the file is large, and most processes of an audit read no text.
var phraseBook = sync.OnceValue(func() map[string][]phrase {
	book := map[string][]phrase{}
	lists := words.Read[map[string]map[part]phraseList]("tongues")
	for i, t := range tongues {
		for p, list := range of(lists, t.name) {
			for _, text := range list {
				letters, open := strings.CutSuffix(plainLetters(text), "*")
				letters, negative := strings.CutPrefix(letters, "!")
				of := p
				if negative {
					of = p.not()
				}
				key := firstLetters(letters, 2)
				entry := phrase{letters: letters, tongue: i, part: of, open: open || opens(letters)}
				if t.toned {
					entry.tones = tonesOf(strings.Trim(text, "!*"))
				}
				book[key] = append(book[key], entry)
			}
		}
	}
	return book
})

// opens reports whether any ending may follow a phrase because of its script.
func opens(letters string) bool {
	first, _ := utf8.DecodeRuneInString(letters)
	return words.IsUnspaced(first) || unicode.Is(unicode.Arabic, first) && len(letters) > 6
}

// firstLetters returns the first n letters of a text.
func firstLetters(text string, n int) string {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end]
}

// phraseList is a comma-separated list of phrases.
type phraseList []string

// UnmarshalJSON reads it.
func (l *phraseList) UnmarshalJSON(text []byte) error {
	var all string
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for phrase := range strings.SplitSeq(all, ",") {
		if phrase = strings.TrimSpace(phrase); phrase != "" {
			*l = append(*l, phrase)
		}
	}
	return nil
}

// plainLetters writes a text in lower case, without accents and variants of letters.
func plainLetters(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case dropped(r):
			return -1
		case r == 'أ', r == 'إ', r == 'آ':
			return 'ا'
		case r == 'ı':
			return 'i' // the small letter of I in Turkish
		case r == 'ł', r == 'Ł':
			return 'l'
		case r == '’':
			return '\''
		case r == '\n', r == '\t':
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	return norm.NFC.String(text)
}

// dropped reports whether a character is a mark on letters, or joins or stretches them.
func dropped(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x064b && r <= 0x0652 || r == 'ـ' || r == 0x093c || unicode.Is(unicode.Cf, r)
}

// toneMarks are those of Vietnamese (grave, acute, circumflex, tilde, breve, hook, horn, dot)
// and of Swedish (diaeresis, ring).
const toneMarks = "\u0300\u0301\u0302\u0303\u0306\u0309\u031b\u0323\u0308\u030a"

// tonesOf returns the marks of each letter that plainLetters keeps, as bits.
func tonesOf(text string) []uint16 {
	var all []uint16
	for _, r := range norm.NFD.String(text) {
		switch mark := strings.IndexRune(toneMarks, r); {
		case mark >= 0 && len(all) > 0:
			all[len(all)-1] |= 1 << (mark / len("\u0300"))
		case !dropped(r):
			all = append(all, 0)
		}
	}
	return all
}

// addPhrases adds the phrases at the start of rest, which stands at a place.
func addPhrases(all []reading, rest string, at int, tones []uint16) {
	pair := firstLetters(rest, 2)
	addFrom(all, phraseBook()[pair], rest, at, tones)
	if first := firstLetters(rest, 1); first != pair {
		addFrom(all, phraseBook()[first], rest, at, tones)
	}
}

func addFrom(all []reading, page []phrase, rest string, at int, tones []uint16) {
	for _, p := range page {
		if !strings.HasPrefix(rest, p.letters) || !p.toned(tones, at) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest[len(p.letters):])
		if !p.open && (unicode.IsLetter(next) || unicode.IsMark(next)) && !strings.HasSuffix(p.letters, "'") && !clitics[wordAt(rest[len(p.letters):])] {
			continue
		}
		if all[p.tongue].parts == nil {
			all[p.tongue].parts = map[part][]span{}
		}
		end := len(p.letters)
		if p.open && !words.IsUnspaced(next) {
			end += len(wordAt(rest[end:]))
		}
		all[p.tongue].parts[p.part] = append(all[p.tongue].parts[p.part], span{at, at + utf8.RuneCountInString(rest[:end])})
	}
}

// toned reports whether the letters at a place have the marks of the phrase, if it has any.
func (p phrase) toned(tones []uint16, at int) bool {
	return p.tones == nil || at+len(p.tones) <= len(tones) && slices.Equal(p.tones, tones[at:at+len(p.tones)])
}

// clitics are pronouns written together with the verb before them.
var clitics = words.SetOf("lo", "la", "los", "las", "le", "les", "li", "gli", "ne", "melo", "selo", "sela", "glielo", "lah", "ه", "ها", "هم", "هما")

func wordAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// arabicPrefix returns the length of the prefix of an Arabic word: "and", "so", "by", "for",
// or the article.
func arabicPrefix(text string) int {
	for _, prefix := range []string{"وال", "بال", "فال", "ال", "لل", "و", "ف", "ب", "ل"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && rest != "" {
			return len(prefix)
		}
	}
	return 0
}
