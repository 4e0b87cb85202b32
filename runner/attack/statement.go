package attack

import (
	"encoding/binary"
	"strings"
	"time"
)

// Statement is one in SQL with a mark that came to the sinkhole where guards were tried.
type Statement struct {
	// Protocol as in sinkhole.Capture.
	Protocol, Text string
	// Writes are the parts of it that changed something, as far as the database lets them.
	Writes []string
	// Time is when the first of what it came with did.
	Time time.Time
}

// Asked is a statement as a client sent it.
type Asked struct {
	Text string
	// Prepared: it was not to be run at once.
	Prepared bool
}

// maxStatement bounds the statements that are read, in bytes.
const maxStatement = 64 << 10

// Queries are the statements in SQL, in their order, of what a client of PostgreSQL or MySQL sent:
// the messages Query and Parse, and COM_QUERY and COM_STMT_PREPARE, whose lengths are right. What
// comes before the first, or was lost between two, is passed over.
func Queries(protocol string, sent []byte) (all []Asked) {
	for at := 0; at+messageHeader <= len(sent); {
		q, end, ok := askedAt(protocol, sent, at)
		if !ok {
			at++
			continue
		}
		all = append(all, q)
		at = end
	}
	return all
}

// messageHeader is the size of the header of a message of either protocol, in bytes.
const messageHeader = 5

// askedAt reads the statement in the message that begins at a place, and where that ends.
func askedAt(protocol string, sent []byte, at int) (q Asked, end int, ok bool) {
	body := at + messageHeader
	switch h := sent[at:body]; {
	case protocol == "postgres" && (h[0] == 'Q' || h[0] == 'P'):
		q.Prepared, end = h[0] == 'P', at+1+int(binary.BigEndian.Uint32(h[1:]))
	case protocol == "mysql" && h[3] == 0 && (h[4] == 3 || h[4] == 22):
		q.Prepared, end = h[4] == 22, at+4+int(h[0])+int(h[1])<<8+int(h[2])<<16
	}
	if end <= body || end > len(sent) || end-at > maxStatement {
		return q, 0, false
	}
	q.Text, ok = string(sent[body:end]), true
	if protocol == "postgres" {
		if q.Prepared {
			_, q.Text, ok = strings.Cut(q.Text, "\x00") // the name
		}
		var ended bool
		q.Text, _, ended = strings.Cut(q.Text, "\x00")
		ok = ok && ended
	}
	return q, end, ok
}

// Quoted says what quotes a text stands in, where it stands first in a statement: one of
// ' " ` and $, "-" for a comment, "" for none. Services differ in how they escape a quote within
// quotes: a text in a Web statement is in quotes only if both ways say so.
func Quoted(protocol, statement, text string) (quotes string, found bool) {
	if protocol == Web {
		if quotes, found = Quoted("postgres", statement, text); quotes == "" {
			quotes, found = Quoted("mysql", statement, text)
		}
		return quotes, found
	}
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
