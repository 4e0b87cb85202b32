package poison

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the shape of a token.
type kind int

const (
	word   kind = iota
	quoted      // what stands in quotes or backticks
	place       // a path, a URL, a mail address
	number
	mark // , ; : ( ) and the like
)

// token is a piece of a sentence. Text is in lower case without what is invisible.
type token struct {
	kind       kind
	text       string
	raw        string
	start, end int
}

// sentence ends at a full stop, a blank line or the next item of a list.
type sentence struct {
	tokens     []token
	start, end int
	// parts of speech, found by parse.
	orders   []demand
	triggers []trigger
}

// The bounds that keep the time linear, whatever a text is made of.
const (
	maxToken    = 4 << 10 // bytes; scripts in quotes are long
	maxSentence = 400     // tokens
)

// split finds the sentences of a text in one pass.
func split(text string) []sentence {
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
	tokens    []token
	sentences []sentence
	// closers remembers where the next closing quote is: len(text) if there is none.
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
	case c == '.' || c == '!' || c == '?':
		l.at += size
		if l.endsSentence() {
			l.close(l.at)
		}
	case l.quote(c, size):
	case inChunk(c):
		l.chunk()
	default:
		l.add(mark, l.at, l.at+size)
		l.at += size
	}
}

// newline ends the sentence before a blank line or an item of a list; within a
// paragraph it is a blank.
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

// endsSentence tells it of the mark just read, by what is around it. "e.g." ends
// none, and in "stability.This" a blank is missing.
func (l *lexer) endsSentence() bool {
	if l.at == len(l.text) {
		return true
	}
	var last string
	if n := len(l.tokens); n > 0 {
		last = l.tokens[n-1].text
	}
	c, size := utf8.DecodeRuneInString(l.text[l.at:])
	switch {
	case last == "g" || last == "e" || last == "i" || last == "etc" || last == "vs":
		return false
	case unicode.IsUpper(c):
		next, _ := utf8.DecodeRuneInString(l.text[l.at+size:])
		return unicode.IsLower(next)
	}
	return unicode.IsSpace(c) || strings.ContainsRune(`)"'`+"`*\\’”", c)
}

// close ends the sentence at an offset.
func (l *lexer) close(end int) {
	if len(l.tokens) > 0 {
		l.sentences = append(l.sentences, sentence{tokens: l.tokens, start: l.tokens[0].start, end: max(end, l.tokens[len(l.tokens)-1].end)})
	}
	l.tokens = nil
}

var quotes = map[rune]rune{'\'': '\'', '"': '"', '`': '`', '‘': '’', '“': '”'}

// quote reads what stands in quotes. An apostrophe opens no quote.
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
	l.add(quoted, from, end)
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

// closer returns where the quote ends. A ' between letters is an apostrophe.
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

// chunk reads up to the next blank, and makes a place, a number or words of it.
func (l *lexer) chunk() {
	start, end := l.at, l.at
	for end < len(l.text) {
		c, size := utf8.DecodeRuneInString(l.text[end:])
		if unicode.IsSpace(c) || strings.ContainsRune("\"`“”‘,;()[]{}<>=|*", c) && end > start || c == '\\' {
			break
		}
		end += size
	}
	end = max(end, start+1)
	if p := strings.TrimRight(l.text[start:end], ".,;:!?'’"); isPlace(strings.ToLower(p)) {
		l.add(place, start, start+len(p))
		l.at = start + len(p)
		return
	}
	l.words(start, end)
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
		l.add(mark, at, at+size)
		l.at = at + size
		return
	}
	k := word
	if strings.Trim(l.text[start:at], "0123456789.-") == "" {
		k = number
	}
	l.add(k, start, at)
	l.at = at
}

func (l *lexer) add(k kind, start, end int) {
	if len(l.tokens) == maxSentence {
		l.close(start)
	}
	raw := visible(l.text[start:end])
	text := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
	l.tokens = append(l.tokens, token{kind: k, text: text, raw: raw, start: start, end: end})
}

// visible drops format characters, which would hide a word from its reader.
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

// isPlace tells a path, a URL or a mail address by its form.
func isPlace(text string) bool {
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
