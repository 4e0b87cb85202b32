package poison

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// part is a part of an order, such as the verb or who is not to know; its name is that of
// a list in the file of word lists.
type part string

// The parts.
const (
	partNegation part = "negations"
	partSilent   part = "silent" // negates by itself: "behind the back"
	partTell     part = "tell"
	partShow     part = "show"
	partUser     part = "users"
	partDeed     part = "deed"
	partHide     part = "hide"
	partSecretly part = "secretly"
	partRead     part = "reads"
	partPass     part = "passes"
	partSecret   part = "secrets"
	partContext  part = "contexts"
	partIgnore   part = "ignores"
	partEarlier  part = "earlier"
	partRule     part = "rules"
	partMust     part = "must"
	partOccasion part = "occasions"
	partCall     part = "calls"
	partChange   part = "changes"
	partReplaced part = "replaced"
	partHarmless part = "harmless"
	partKnow     part = "knows"
	partCopy     part = "copies" // "in blind copy"
)

// tongue is a language with what tells how it is read.
type tongue struct {
	name string
	// negates is how many letters a negation reaches ahead; behind, whether it may stand
	// behind the verb as well.
	negates int
	behind  bool
	// share is what a distance is in letters, of what it is in European languages: percent.
	share int
}

// tongues are the languages; of English there is only what its own grammar does not read.
var tongues = []tongue{
	{"german", 32, true, 100}, {"french", 24, false, 100}, {"spanish", 24, false, 100}, {"portuguese", 24, false, 100}, {"italian", 24, false, 100},
	{"russian", 24, false, 100}, {"chinese", 7, false, 40}, {"japanese", 0, false, 50}, {"korean", 0, false, 50}, {"hindi", 3, false, 100}, {"arabic", 12, false, 100},
	{english, 12, false, 100},
}

const english = "english"

// phrase is an entry of the lists.
type phrase struct {
	letters string
	tongue  int // index of tongues
	part    part
	// open: any ending may follow.
	open bool
}

// phraseBook has the phrases by their first letter, the longest first.
var phraseBook = func() map[rune][]phrase {
	book := map[rune][]phrase{}
	lists := words.Read[map[string]map[part]phraseList]("tongues")
	for i, t := range tongues {
		for p, list := range of(lists, t.name) {
			for _, text := range list {
				letters, open := strings.CutSuffix(plainLetters(text), "*")
				first, _ := utf8.DecodeRuneInString(letters)
				book[first] = append(book[first], phrase{letters, i, p, open || words.IsUnspaced(first) || unicode.Is(unicode.Arabic, first) && len(letters) > 6})
			}
		}
	}
	return book
}()

// phraseList is a text of phrases with commas between.
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

// plainLetters writes a text in lower case and without accents, in one form of each letter.
func plainLetters(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x0300 && r <= 0x036f, r >= 0x064b && r <= 0x0652, r == 'ـ', r == 0x093c, unicode.Is(unicode.Cf, r):
			return -1
		case r == 'أ', r == 'إ', r == 'آ':
			return 'ا'
		case r == '’':
			return '\''
		case r == '\n', r == '\t':
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	return norm.NFC.String(text)
}

// span is where a part stands in a sentence, in letters.
type span struct{ start, end int }

// reading has the parts of one sentence in one language.
type reading struct {
	tongue
	parts map[part][]span
	// pauses are the commas and colons.
	pauses []int
}

// readings finds the parts of a sentence in each language of which it has any.
func readings(text string) []reading {
	plain := plainLetters(text)
	all := make([]reading, len(tongues))
	at, inWord := 0, false
	var pauses []int
	for i, r := range plain {
		if letter := unicode.IsLetter(r) || unicode.IsMark(r); letter {
			if !inWord || words.IsUnspaced(r) {
				addPhrases(all, plain[i:], at)
				if article := arabicPrefix(plain[i:]); article > 0 {
					addPhrases(all, plain[i+article:], at+utf8.RuneCountInString(plain[i:i+article]))
				}
			}
			inWord = !words.IsUnspaced(r)
		} else {
			inWord = unicode.IsDigit(r) || strings.ContainsRune("_@/.", r) // an address goes on
			if strings.ContainsRune(",;:،、，：", r) {
				pauses = append(pauses, at)
			}
		}
		at++
	}
	var some []reading
	for i, rd := range all {
		if len(rd.parts) > 0 {
			rd.tongue, rd.pauses = tongues[i], pauses
			some = append(some, rd)
		}
	}
	return some
}

// addPhrases adds the phrases that a text begins with, which stands at a place.
func addPhrases(all []reading, rest string, at int) {
	first, _ := utf8.DecodeRuneInString(rest)
	for _, p := range phraseBook[first] {
		if !strings.HasPrefix(rest, p.letters) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest[len(p.letters):])
		if !p.open && (unicode.IsLetter(next) || unicode.IsMark(next)) && !strings.HasSuffix(p.letters, "'") && !clitics[wordAt(rest[len(p.letters):])] {
			continue
		}
		if all[p.tongue].parts == nil {
			all[p.tongue].parts = map[part][]span{}
		}
		all[p.tongue].parts[p.part] = append(all[p.tongue].parts[p.part], span{at, at + utf8.RuneCountInString(p.letters)})
	}
}

// clitics are pronouns that are written together with the verb before them.
var clitics = words.SetOf("lo", "la", "los", "las", "le", "les", "li", "gli", "ne", "melo", "selo", "sela", "glielo", "ه", "ها", "هم", "هما")

// wordAt is the word that a text begins with.
func wordAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// arabicPrefix returns the length of what is written together with the Arabic word behind
// it: "and", "so", "by", "for", and the article.
func arabicPrefix(text string) int {
	for _, prefix := range []string{"وال", "بال", "فال", "ال", "لل", "و", "ف", "ب", "ل"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && rest != "" {
			return len(prefix)
		}
	}
	return 0
}

func (r reading) has(parts ...part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return len(r.parts[p]) > 0 })
}

// near reports whether two parts stand at most so many letters apart, in either order.
func (r reading) near(a, b part, most int) bool { return r.within(r.parts[a], r.parts[b], most) }

func (r reading) within(a, b []span, most int) bool {
	most = most * r.share / 100
	for _, x := range a {
		for _, y := range b {
			if x != y && max(x.start, y.start)-min(x.end, y.end) <= most {
				return true
			}
		}
	}
	return false
}

// negated returns where a verb is that is not to be done.
func (r reading) negated(verb part) []span {
	var all []span
	for _, v := range r.parts[verb] {
		if slices.ContainsFunc(r.parts[partNegation], func(n span) bool {
			ahead := v.start-n.end >= 0 && v.start-n.end <= r.negates && !r.pausedBetween(n.end, v.start)
			return ahead || r.behind && n.start-v.end >= 0 && n.start-v.end <= 45 && !r.pausedBetween(v.end, n.start)
		}) {
			all = append(all, v)
		}
	}
	return all
}

func (r reading) pausedBetween(from, to int) bool {
	return slices.ContainsFunc(r.pauses, func(at int) bool { return at >= from && at < to })
}
