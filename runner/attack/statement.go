package attack

import (
	"encoding/binary"
	"strings"
	"time"
)

// Statement is one in SQL that came to the sinkhole where guards were tried.
type Statement struct {
	// Protocol is that of sinkhole.Capture.
	Protocol, Text string
	// Time is when the first of what it came with did.
	Time time.Time
}

// maxStatement is how long a statement is that is read, in bytes.
const maxStatement = 64 << 10

// Statements are those in SQL that hold a text, of what a client of PostgreSQL or MySQL sent:
// the messages Query and Parse, and COM_QUERY and COM_STMT_PREPARE, whose lengths are right.
func Statements(protocol string, sent []byte, text string) (all []string) {
	for rest, base := string(sent), 0; ; {
		at := strings.Index(rest, text)
		if at < 0 {
			return all
		}
		at += base
		if statement, ok := around(protocol, sent, at, len(text)); ok && (len(all) == 0 || all[len(all)-1] != statement) {
			all = append(all, statement)
		}
		base = at + len(text)
		rest = string(sent[base:])
	}
}

// around is the statement that a place is in.
func around(protocol string, sent []byte, at, length int) (string, bool) {
	const header = 5 // of a message of either protocol
	for begin := at - header; begin >= 0 && begin > at-maxStatement; begin-- {
		body, end := begin+header, 0
		switch h := sent[begin:body]; {
		case protocol == "postgres" && (h[0] == 'Q' || h[0] == 'P'):
			end = begin + 1 + int(binary.BigEndian.Uint32(h[1:]))
		case protocol == "mysql" && h[3] == 0 && (h[4] == 3 || h[4] == 22):
			end = begin + 4 + int(h[0]) + int(h[1])<<8 + int(h[2])<<16
		}
		if end < at+length || end > len(sent) {
			continue
		}
		statement := string(sent[body:end])
		if protocol == "postgres" {
			if sent[begin] == 'P' {
				_, statement, _ = strings.Cut(statement, "\x00") // the name
			}
			statement, _, _ = strings.Cut(statement, "\x00")
		}
		if strings.Contains(statement, string(sent[at:at+length])) {
			return statement, true
		}
	}
	return "", false
}

// Quoted says what quotes a text stands in, where it stands first in a statement: one of
// ' " ` and $, "-" for a comment, "" for none.
func Quoted(protocol, statement, text string) (quotes string, found bool) {
	at := strings.Index(statement, text)
	if at < 0 {
		return "", false
	}
	for i := 0; i < at; {
		end, kind := token(protocol, statement, i)
		if end > at {
			return kind, true
		}
		i = end
	}
	return "", true
}

// token is where that ends which begins at a place, and the kind of quotes.
func token(protocol, s string, i int) (end int, kind string) {
	rest := s[i:]
	until := func(close string, kind string) (int, string) {
		if n := strings.Index(rest[1:], close); n >= 0 {
			return i + 1 + n + len(close), kind
		}
		return len(s), kind
	}
	mysql := protocol == "mysql"
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"), c == '#' && mysql:
		return until("\n", "-")
	case strings.HasPrefix(rest, "/*"):
		return until("*/", "-")
	case c == '\'', c == '"', c == '`' && mysql:
		return quotedEnd(s, i, mysql && c != '`' || c == '\'' && i > 0 && s[i-1]|0x20 == 'e'), string(c)
	case c == '$' && !mysql && dollarTag(rest) != "":
		return i + dollarEnd(rest, dollarTag(rest)), "$"
	}
	return i + 1, ""
}

// dollarEnd is where a text of PostgreSQL ends that begins with a tag.
func dollarEnd(rest, tag string) int {
	if n := strings.Index(rest[len(tag):], tag); n >= 0 {
		return n + 2*len(tag)
	}
	return len(rest)
}

// quotedEnd is where a text in quotes ends. A doubled quote does not end it, nor, where there
// are escapes, one behind a backslash.
func quotedEnd(s string, begin int, escapes bool) int {
	for i := begin + 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] != s[begin]:
		case i+1 < len(s) && s[i+1] == s[begin]:
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}

// dollarTag is the tag that a text of PostgreSQL in dollars begins with; "" if it is none.
func dollarTag(rest string) string {
	for i := 1; i < len(rest) && i < 64; i++ {
		switch c := rest[i]; {
		case c == '$':
			return rest[:i+1]
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 1 && c >= '0' && c <= '9':
		default:
			return ""
		}
	}
	return ""
}
