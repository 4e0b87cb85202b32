package decoy

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// minRun is the least number of characters that are taken for base64 or hex: those
// of the shortest secret.
const minRun = 20

// sextets has the values of the characters of base64 and base64url (RFC 4648, 4 and
// 5), and a negative number for all others: lineEnd for those that may wrap lines.
var sextets = func() (table [256]int8) {
	for i := range table {
		table[i] = -1
	}
	for i, c := range []byte(upper + lower + digits + "+/") {
		table[c] = int8(i)
	}
	table['-'], table['_'] = 62, 63
	table['\r'], table['\n'] = lineEnd, lineEnd
	return table
}()

const lineEnd = -2

// letters returns the next run of base64, at or after a place, that is long enough and not plain, or an empty one. A
// run of one digit decodes to another such run, and so on to the bounds of the search. A run may be wrapped into
// lines, but ends at an empty line. It has a letter at every minRun-th place, so most other places are skipped.
func letters(data []byte, at int) (from, to int) {
	for at+minRun <= len(data) {
		from = at + minRun - 1
		if sextets[data[from]] == -1 {
			at = from + 1
			continue
		}
		for from > at && sextets[data[from-1]] != -1 {
			from--
		}
		for from < len(data) && sextets[data[from]] == lineEnd {
			from++
		}
		feeds := 0
		to, at = from, from
		for ; at < len(data) && sextets[data[at]] != -1 && feeds < 2; at++ {
			switch {
			case sextets[data[at]] >= 0:
				to, feeds = at+1, 0
			case data[at] == '\n':
				feeds++
			}
		}
		if to-from >= minRun && !plain(data[from:to]) {
			return from, to
		}
	}
	return len(data), len(data)
}

// groups returns where the groups of four of a run may begin, each alignment once:
// at its beginning, after a leading path ("/data/H4sI...") or line of text, and
// where gzip begins.
func groups(run []byte) []int {
	const path = 64 // most bytes of a path
	starts := []int{0}
	add := func(at int) {
		if len(run)-at >= minRun && !slices.ContainsFunc(starts, func(s int) bool { return (at-s)%4 == 0 }) {
			starts = append(starts, at)
		}
	}
	for i, c := range run[:min(path, len(run))] {
		if c == '/' || c == '\n' {
			add(i + 1)
		}
	}
	for at := 0; len(starts) < 4; {
		i := bytes.Index(run[at:], []byte("H4sI"))
		if i < 0 {
			break
		}
		add(at + i)
		at += i + 1
	}
	return starts
}

// printable returns the stretch of ASCII text around a place, not before from.
func printable(data []byte, from, at int) (start, end int) {
	start, end = at, at
	for start > from && textual[data[start-1]] {
		start--
	}
	for end < len(data) && textual[data[end]] {
		end++
	}
	return start, end
}

// textual has the bytes of ASCII text.
var textual = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t'
	}
	return table
}()

// unbase64 decodes a run that letters found. The last group may be incomplete.
func unbase64(run []byte) []byte {
	out := make([]byte, 0, len(run)*3/4+3)
	var group uint32
	bits := 0
	for _, c := range run {
		v := sextets[c]
		if v < 0 {
			continue
		}
		group = group<<6 | uint32(v)
		if bits += 6; bits >= 8 {
			bits -= 8
			out = append(out, byte(group>>bits))
		}
	}
	return out
}

func isHex(run []byte) bool {
	for _, c := range run {
		if nibble(c) < 0 && sextets[c] != lineEnd {
			return false
		}
	}
	return true
}

func unhex(run []byte) []byte {
	out := make([]byte, 0, len(run)/2+1)
	high := -1
	for _, c := range run {
		v := nibble(c)
		switch {
		case v < 0:
		case high < 0:
			high = v
		default:
			out = append(out, byte(high<<4|v))
			high = -1
		}
	}
	return out
}

// nibble returns the value of a hex digit, or -1.
func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// escaped reports whether a percent sign begins an encoded byte.
func escaped(data []byte) bool {
	return len(data) > 2 && data[0] == '%' && nibble(data[1]) >= 0 && nibble(data[2]) >= 0
}

func anyEscaped(data []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(data[at:], '%')
		if i < 0 {
			return false
		}
		if at += i; escaped(data[at:]) {
			return true
		}
	}
}

func unpercent(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if escaped(data[i:]) {
			out = append(out, byte(nibble(data[i+1])<<4|nibble(data[i+2])))
			i += 2
			continue
		}
		out = append(out, data[i])
	}
	return out
}

// unescape undoes the escapes of JSON strings anywhere in data.
func unescape(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			continue
		}
		i++
		switch data[i] {
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			if i+4 < len(data) {
				if code, err := strconv.ParseUint(string(data[i+1:i+5]), 16, 32); err == nil {
					out = utf8.AppendRune(out, rune(code))
					i += 4
					continue
				}
			}
			out = append(out, 'u')
		default:
			out = append(out, data[i])
		}
	}
	return out
}

// head ends the head of an HTTP message (RFC 9112, 2.1).
var head = []byte("\r\n\r\n")

// messages searches the bodies of HTTP messages that are chunked, or compressed
// without a header that would show it.
func (h *searcher) messages(data []byte, l decoding) {
	if l.depth == 0 {
		h.inflate(data, 0, deflated, l)
	}
	for at := 0; ; {
		end := bytes.Index(data[at:], head)
		if end < 0 {
			return
		}
		body := at + end + len(head)
		fields := bytes.ToLower(data[max(at, body-maxHead):body])
		at = body
		if !bytes.Contains(fields, []byte("http/1.")) {
			continue
		}
		h.inflate(data, body, deflated, l)
		if bytes.Contains(fields, []byte("chunked")) && h.afford(len(data)-body) {
			joined := unchunk(data[body:])
			h.decoded(joined, l.inner("", body, len(data)))
			h.inflate(joined, 0, deflated, l.inner("", body, len(data)))
		}
	}
}

// maxHead bounds how much of a message's head is searched, in bytes.
const maxHead = 8 << 10

// unchunk joins the chunks of a body (RFC 9112, 7.1) as far as it is whole.
func unchunk(body []byte) []byte {
	var out []byte
	for {
		line, rest, ok := bytes.Cut(body, []byte("\r\n"))
		if !ok || len(line) > 256 {
			return out
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
		if err != nil || n == 0 {
			return out
		}
		if int(n) >= len(rest) {
			return append(out, rest...)
		}
		out = append(out, rest[:n]...)
		body = bytes.TrimPrefix(rest[n:], []byte("\r\n"))
	}
}
