package sources

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// kind is the form of a token.
type kind byte

const (
	mark    kind = iota // an operator or a bracket
	name                // an identifier or a keyword
	text                // a text, without its quotes and escapes
	number              // a number, as it is written
	pattern             // a regular expression of JavaScript
	formed              // a text that is made at run time: a template, an f-string
)

type token struct {
	kind kind
	is   string
}

// tokens are those of a program, in order.
type tokens []token

// at returns the token at an index; a mark without text beyond both ends.
func (t tokens) at(i int) token {
	if i < 0 || i >= len(t) {
		return token{}
	}
	return t[i]
}

// scanner reads the tokens of JavaScript or Python. What it misreads yields values that nothing compares with.
type scanner struct {
	in     string
	at     int
	python bool
	tokens []token
}

// scan returns the tokens of a program. Texts that are added are one, and so are the texts that are encoded in others.
func scan(program string, python bool) tokens {
	s := scanner{in: program, python: python}
	for s.at < len(s.in) {
		s.step()
	}
	return s.tokens
}

func (s *scanner) step() {
	switch c := s.in[s.at]; {
	case c <= ' ':
		s.at++
	case s.comment():
	case c == '"' || c == '\'' || c == '`' && !s.python:
		s.quoted("")
	case c == '/' && !s.python && s.expectsOperand():
		s.pattern()
	case c >= '0' && c <= '9':
		s.add(number, s.run(isNumeral))
	case isLetter(c):
		s.word()
	default:
		s.operator()
	}
}

// comments has the ends of comments by their beginnings, for Python and for JavaScript.
var comments = map[bool]map[string]string{true: {"#": "\n"}, false: {"//": "\n", "/*": "*/"}}

// comment skips a comment, and reports whether there was one.
func (s *scanner) comment() bool {
	for begin, end := range comments[s.python] {
		if strings.HasPrefix(s.in[s.at:], begin) {
			s.skipPast(end)
			return true
		}
	}
	return false
}

// word reads a name, or the text of Python whose prefix it is.
func (s *scanner) word() {
	word := s.run(isNameByte)
	if s.python && len(word) <= 2 && s.at < len(s.in) && (s.in[s.at] == '"' || s.in[s.at] == '\'') {
		s.quoted(strings.ToLower(word))
		return
	}
	s.add(name, word)
}

// skipPast skips up to the end of a comment.
func (s *scanner) skipPast(end string) {
	if n := strings.Index(s.in[s.at:], end); n >= 0 {
		s.at += n + len(end)
		return
	}
	s.at = len(s.in)
}

func (s *scanner) run(of func(byte) bool) string {
	from := s.at
	for s.at < len(s.in) && of(s.in[s.at]) {
		s.at++
	}
	return s.in[from:s.at]
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}
func isNumeral(c byte) bool  { return c >= '0' && c <= '9' || c == '.' || c == '_' }
func isNameByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

// operators of more than one character, the longest first.
var operators = []string{"===", "!==", "==", "!=", "<=", ">=", "=>", "?.", "&&", "||"}

func (s *scanner) operator() {
	for _, op := range operators {
		if strings.HasPrefix(s.in[s.at:], op) {
			s.at += len(op)
			s.add(mark, op)
			return
		}
	}
	s.at++
	s.add(mark, s.in[s.at-1:s.at])
}

// expectsOperand reports whether a slash begins a regular expression.
func (s *scanner) expectsOperand() bool {
	switch last := s.last(0); last.kind {
	case mark:
		return last.is != ")" && last.is != "]" && last.is != "}"
	case name:
		return last.is == "return" || last.is == "case" || last.is == "typeof"
	}
	return false
}

// last returns the nth token from the end.
func (s *scanner) last(n int) token {
	if n >= len(s.tokens) {
		return token{}
	}
	return s.tokens[len(s.tokens)-1-n]
}

// maxExpression bounds a regular expression, in bytes.
const maxExpression = 1 << 10

func (s *scanner) pattern() {
	class := false
	for i := s.at + 1; i < min(len(s.in), s.at+maxExpression) && s.in[i] != '\n'; i++ {
		switch c := s.in[i]; {
		case c == '\\':
			i++
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			body := s.in[s.at+1 : i]
			s.at = i + 1
			if flags := s.run(isNameByte); strings.Contains(flags, "i") {
				body = "(?i)" + body
			}
			s.add(pattern, body)
			return
		}
	}
	s.at++
}

// quoted reads a text. before is what Python writes before the quotes: f, r, b or u.
func (s *scanner) quoted(before string) {
	quote := s.in[s.at : s.at+1]
	if long := strings.Repeat(quote, 3); s.python && strings.HasPrefix(s.in[s.at:], long) {
		quote = long
	}
	from, raw := s.at+len(quote), strings.Contains(before, "r")
	for i := from; i < len(s.in); i++ {
		switch {
		case s.in[i] == '\\':
			i++
		case strings.HasPrefix(s.in[i:], quote):
			body := s.in[from:i]
			s.at = i + len(quote)
			s.addText(body, raw, quote == "`" && strings.Contains(body, "${") || strings.Contains(before, "f") && strings.Contains(body, "{"))
			return
		case s.in[i] == '\n' && (quote == `"` || quote == "'"):
			s.at = i
			return
		}
	}
	s.at = len(s.in)
}

// maxText bounds the texts that are kept, in bytes.
const maxText = 256

func (s *scanner) addText(body string, raw, made bool) {
	if !raw && strings.Contains(body, `\`) {
		body = unescaped(body)
	}
	if made || len(body) > maxText {
		s.add(formed, "")
		return
	}
	before := s.tokens
	added := s.last(0) == (token{mark, "+"}) && s.last(1).kind == text
	switch {
	case added:
		before = before[:len(before)-2]
	case s.python && s.last(0).kind == text:
		before = before[:len(before)-1]
	case s.last(0) == (token{mark, "("}) && s.last(1).kind == name:
		body = decoded(s.last(1).is, body)
	}
	if len(before) < len(s.tokens) {
		if joined := s.tokens[len(before)].is + body; len(joined) <= maxText {
			s.tokens, body = before, joined
		}
	}
	s.add(text, body)
}

func (s *scanner) add(of kind, is string) { s.tokens = append(s.tokens, token{of, is}) }

// decoded returns the text that a call of a decoder yields; the text itself for any other function.
func decoded(function, body string) string {
	var plain []byte
	var err error
	switch function {
	case "atob", "b64decode", "urlsafe_b64decode", "from":
		plain, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(body), "="))
	}
	if function == "fromhex" || function == "unhexlify" || function == "from" && err != nil {
		plain, err = hex.DecodeString(body)
	}
	if err != nil || len(plain) == 0 || !utf8.Valid(plain) || strings.ContainsFunc(string(plain), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return body
	}
	return string(plain)
}

// escapes matches the escapes of both languages (ECMA-262 12.9.4, Python's lexical analysis 2.4.1).
var escapes = lazyregexp.New(`(?s)\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|(.))`)

func unescaped(body string) string {
	return escapes.ReplaceAllStringFunc(body, func(escape string) string {
		found := escapes.FindStringSubmatch(escape)
		if code := found[1] + found[2] + found[3]; code != "" {
			r, err := strconv.ParseUint(code, 16, 32)
			if err != nil {
				return ""
			}
			return string(rune(r)) //nolint:gosec // of six digits at most
		}
		switch found[4] {
		case "n":
			return "\n"
		case "t":
			return "\t"
		case "r":
			return "\r"
		case "\n":
			return "" // a continued line
		}
		return found[4]
	})
}
