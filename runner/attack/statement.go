package attack

import (
	"encoding/binary"
	"strings"
	"time"
)

// Statement is a statement with a mark that an attempt sent to the sinkhole.
type Statement struct {
	// Protocol as in sinkhole.Capture.
	Protocol, Text string
	// Writes are the parts that change something, if the database lets them.
	Writes []string
	// Time is that of the first bytes of its capture.
	Time time.Time
}

// Asked is a statement as a client sent it.
type Asked struct {
	Text string
	// Prepared: it was not executed at once.
	Prepared bool
}

// maxStatement bounds the statements that are read, in bytes.
const maxStatement = 64 << 10

// Queries returns the statements that a client of PostgreSQL or MySQL sent, in order:
// the messages Query and Parse, and COM_QUERY and COM_STMT_PREPARE, with correct lengths. It skips other bytes.
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

// askedAt reads the statement in the message at an offset, and the end of the message.
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

// Quoted returns the quotes around the first occurrence of a text in a statement: one of
// ' " ` and $, "-" for a comment, "" for none. Web services differ in how they escape quotes:
// a text in a Web statement is quoted only if both ways say so.
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

// token returns the end of the token at an offset, and its quotes.
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

// dollarEnd returns the end of a dollar-quoted text of PostgreSQL.
func dollarEnd(rest, tag string) int {
	if n := strings.Index(rest[len(tag):], tag); n >= 0 {
		return n + 2*len(tag)
	}
	return len(rest)
}

// quotedEnd returns the end of a quoted text. A doubled quote does not end it, nor, with
// escapes, one after a backslash.
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

// dollarTag returns the tag at the beginning of a dollar-quoted text of PostgreSQL; "" for another text.
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
