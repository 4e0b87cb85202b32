package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the shape of a token.
type Kind int

// The kinds.
const (
	Word   Kind = iota
	Quoted      // in quotes or backticks
	Place       // a path, a URL, a mail address
	Number
	Mark // , ; : ( ) and the like
)

// Token is a piece of a sentence. Start and End are its offsets in the text, in bytes;
// those of a quoted one leave out the quotes.
type Token struct {
	Kind Kind
	// Raw is the token as written, without format characters, which could hide a
	// word. Text is Raw in lower case, with plain apostrophes.
	Text, Raw  string
	Start, End int
}

// Sentence ends at a full stop, a blank line or the next item of a list. It has 1 to 400 tokens.
type Sentence struct {
	Tokens []Token
	// Start and End are its offsets in the text, in bytes, with quotes and full stop.
	Start, End int
}

// The bounds that keep the time linear.
const (
	maxToken    = 4 << 10 // bytes; scripts in quotes are long
	maxSentence = 400     // tokens
)

// Sentences finds the sentences of a text, in linear time for any text.
func Sentences(text string) []Sentence {
	l := lexer{text: text, closers: map[rune]int{}}
	for l.at < len(text) {
		l.step()
	}
	l.close(len(text))
	return l.sentences
}

type lexer struct {
	text      string
	at        int
	start     int // of the sentence
	limit     int // end of the current chunk
	tokens    []Token
	sentences []Sentence
	// closers caches the position of the next closing quote: len(text) for none.
	closers map[rune]int
}

// step reads one token, a blank, or the end of a sentence.
func (l *lexer) step() {
	c, size := utf8.DecodeRuneInString(l.text[l.at:])
	switch {
	case c == '\n' || strings.HasPrefix(l.text[l.at:], `\n`):
		l.newline()
	case unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError:
		l.at += size
	case c == '.' && l.hiddenFile():
		l.chunk()
	case c == '.' || c == '!' || c == '?':
		l.at += size
		if l.endsSentence() {
			l.close(l.at)
		}
	case strings.ContainsRune("。！？।॥؟", c):
		l.at += size
		l.close(l.at)
	case l.quote(c, size):
	case inChunk(c):
		l.chunk()
	default:
		l.add(Mark, l.at, l.at+size)
		l.at += size
	}
}

// hiddenFile reports whether the full stop begins a name: ".env".
func (l *lexer) hiddenFile() bool {
	before, _ := utf8.DecodeLastRuneInString(l.text[:l.at])
	next, _ := utf8.DecodeRuneInString(l.text[l.at+1:])
	return (l.at == 0 || unicode.IsSpace(before)) && unicode.IsLower(next)
}

// newline ends the sentence before a blank line or an item of a list.
func (l *lexer) newline() {
	end := l.at
	lines := 0
	for l.at < len(l.text) {
		if strings.HasPrefix(l.text[l.at:], `\n`) {
			l.at, lines = l.at+2, lines+1
			continue
		}
		c := l.text[l.at]
		if c != '\n' && c != '\r' && c != ' ' && c != '\t' {
			break
		}
		if c == '\n' {
			lines++
		}
		l.at++
	}
	rest := l.text[l.at:]
	if lines > 1 || rest == "" || strings.ContainsRune("-*•#<|+>", rune(rest[0])) || rest[0] >= '0' && rest[0] <= '9' {
		l.close(end)
	}
}

// abbreviations have a full stop that ends no sentence.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "e": true, "g": true, "i": true, "etc": true, "vs": true}

// endsSentence reports whether the full stop just read ends a sentence. "e.g." and "Api.Weather.gov" do
// not; "stability.This is" lacks a blank.
func (l *lexer) endsSentence() bool {
	if l.at == len(l.text) {
		return true
	}
	var last string
	if n := len(l.tokens); n > 0 {
		last = l.tokens[n-1].Text
	}
	c, size := utf8.DecodeRuneInString(l.text[l.at:])
	switch {
	case abbreviations[last]:
		return false
	case unicode.IsUpper(c):
		rest := l.text[l.at+size:]
		next, _ := utf8.DecodeRuneInString(rest)
		behind := strings.TrimLeftFunc(rest, unicode.IsLetter)
		after, _ := utf8.DecodeRuneInString(strings.TrimPrefix(behind, "."))
		return unicode.IsLower(next) && !(strings.HasPrefix(behind, ".") && unicode.IsLetter(after))
	}
	return unicode.IsSpace(c) || strings.ContainsRune(`)"'`+"`*\\’”", c)
}

func (l *lexer) close(end int) {
	if len(l.tokens) > 0 {
		l.sentences = append(l.sentences, Sentence{Tokens: l.tokens, Start: l.start, End: max(end, l.tokens[len(l.tokens)-1].End)})
	}
	l.tokens = nil
}

var quotes = map[rune]rune{'\'': '\'', '"': '"', '`': '`', '‘': '’', '“': '”'}

// quote reads a quotation. An apostrophe opens none.
func (l *lexer) quote(c rune, size int) bool {
	closing, ok := quotes[c]
	if !ok {
		return false
	}
	start := l.at
	from := start + size
	if before, _ := utf8.DecodeLastRuneInString(l.text[:start]); c == '\'' && unicode.IsLetter(before) {
		next, _ := utf8.DecodeRuneInString(l.text[from:])
		if !unicode.IsLetter(next) {
			l.at = from
			return true
		}
	}
	if strings.HasPrefix(l.text[start:], "```") {
		from = start + 3
	}
	end := l.closer(closing, from)
	if end <= from || end >= len(l.text) || end-from > maxToken {
		l.at = from
		return true
	}
	if l.add(Quoted, from, end); len(l.tokens) == 1 {
		l.start = start
	}
	l.at = end
	for strings.HasPrefix(l.text[l.at:], string(closing)) {
		l.at += utf8.RuneLen(closing)
	}
	if inside := l.text[from:end]; strings.HasSuffix(inside, ".") || strings.HasSuffix(inside, "!") {
		rest := strings.TrimLeft(l.text[l.at:], " ")
		if rest != "" && unicode.IsUpper(rune(rest[0])) {
			l.close(l.at)
		}
	}
	return true
}

// closer returns the end of the quotation. A ' between letters is an apostrophe.
func (l *lexer) closer(c rune, from int) int {
	if at, ok := l.closers[c]; ok && at >= from {
		return at
	}
	at := from
	for at < len(l.text) {
		i := strings.IndexRune(l.text[at:], c)
		if i < 0 {
			at = len(l.text)
			break
		}
		at += i
		after := at + utf8.RuneLen(c)
		next, _ := utf8.DecodeRuneInString(l.text[after:])
		if c != '\'' && c != '’' || !unicode.IsLetter(next) {
			break
		}
		at = after
	}
	l.closers[c] = at
	return at
}

func inChunk(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_~/$@-.<", c)
}

// chunk reads up to the next blank: a place, a number or words.
func (l *lexer) chunk() {
	start, look := l.at, l.at+maxPrefix
	if start >= l.limit {
		l.limit = l.chunkEnd(start)
		look = l.limit // only the beginning of a chunk needs to be looked at whole
	}
	if IsPlace(strings.ToLower(strings.TrimRight(l.text[start:min(look, l.limit)], trailing))) {
		end := start + len(strings.TrimRight(l.text[start:l.limit], trailing))
		l.add(Place, start, end)
		l.at = end
		return
	}
	l.words(start, l.limit)
}

// trailing are marks that are not part of the place before them, and maxPrefix bounds the beginning
// of a place, in bytes.
const (
	trailing  = ".,;:!?'’"
	maxPrefix = 8
)

func (l *lexer) chunkEnd(start int) int {
	end := start
	for end < len(l.text) {
		c, size := utf8.DecodeRuneInString(l.text[end:])
		if unicode.IsSpace(c) || strings.ContainsRune("\"`“”‘,;()[]{}<>=|*。！？।，、：；", c) && end > start || c == '\\' {
			break
		}
		end += size
	}
	return max(end, start+1)
}

// words reads a word of letters, digits and what joins them.
func (l *lexer) words(start, limit int) {
	at := start
	for at < limit {
		c, size := utf8.DecodeRuneInString(l.text[at:])
		next, _ := utf8.DecodeRuneInString(l.text[at+size:])
		joins := strings.ContainsRune("-'’.", c) && at > start && (unicode.IsLower(next) || unicode.IsDigit(next) || c == '-' && unicode.IsLetter(next))
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && !unicode.Is(unicode.Cf, c) && !unicode.Is(unicode.M, c) && !joins {
			break
		}
		at += size
	}
	if at == start {
		_, size := utf8.DecodeRuneInString(l.text[at:])
		l.add(Mark, at, at+size)
		l.at = at + size
		return
	}
	k := Word
	if strings.Trim(l.text[start:at], "0123456789.-") == "" {
		k = Number
	}
	l.add(k, start, at)
	l.at = at
}

func (l *lexer) add(k Kind, start, end int) {
	if len(l.tokens) == maxSentence {
		l.close(start)
	}
	if len(l.tokens) == 0 {
		l.start = start
	}
	raw := visible(l.text[start:end])
	text := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
	l.tokens = append(l.tokens, Token{Kind: k, Text: text, Raw: raw, Start: start, End: end})
}

// visible drops format characters.
func visible(text string) string {
	for _, c := range text {
		if unicode.Is(unicode.Cf, c) {
			return strings.Map(func(c rune) rune {
				if unicode.Is(unicode.Cf, c) {
					return -1
				}
				return c
			}, text)
		}
	}
	return text
}

// IsPlace reports whether a text in lower case has the form of a path, a URL or a mail
// address.
func IsPlace(text string) bool {
	if len(text) < 3 {
		return false
	}
	at := strings.IndexByte(text, '@')
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "~/"), strings.HasPrefix(text, "$home/"):
		return true
	case text[0] == '/':
		return unicode.IsLetter(rune(text[1])) || text[1] == '.'
	case text[0] == '.':
		return unicode.IsLetter(rune(text[1]))
	}
	return at > 0 && strings.Contains(text[at:], ".")
}
