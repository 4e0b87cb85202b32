package ptrace

import (
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxString bounds a printed string or payload, in bytes.
const maxString = trace.MaxData

// Bounds of what is printed of one call: elements of an array of strings, and of
// structures; bytes of payload in all.
const (
	maxStrings  = 1024
	maxElements = 64
	maxPayload  = 64 << 10
)

// appendEscaped appends bytes that a server has chosen, escaped as in a C string,
// so that nothing in them is taken for syntax; within a decoration it escapes
// angle brackets, too.
func appendEscaped(b, s []byte, decoration bool) []byte {
	for i, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case decoration && (c == '<' || c == '>'):
			b = appendOctal(b, c, true)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		case c >= '\t' && c <= '\r':
			b = append(b, '\\', "tnvfr"[c-'\t'])
		default:
			digitNext := i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9'
			b = appendOctal(b, c, digitNext)
		}
	}
	return b
}

// appendOctal appends \N, with all three digits where another digit follows.
func appendOctal(b []byte, c byte, whole bool) []byte {
	b = append(b, '\\')
	if whole || c >= 0o100 {
		b = append(b, '0'+c>>6)
	}
	if whole || c >= 0o10 {
		b = append(b, '0'+c>>3&7)
	}
	return append(b, '0'+c&7)
}

// appendQuoted appends a string literal; cut: there was more.
func appendQuoted(b, s []byte, cut bool) []byte {
	b = append(appendEscaped(append(b, '"'), s, false), '"')
	if cut {
		b = append(b, "..."...)
	}
	return b
}

// appendPointer appends an address, also in place of a string that cannot be
// read.
func appendPointer(b []byte, addr uint64) []byte {
	if addr == 0 {
		return append(b, "NULL"...)
	}
	return appendHex(b, addr)
}

// appendPID appends a pid the way that leads a line, padded to five columns.
func appendPID(b []byte, pid int) []byte {
	start := len(b)
	b = strconv.AppendInt(b, int64(pid), 10)
	for len(b)-start < 5 {
		b = append(b, ' ')
	}
	return b
}

// appendSeconds appends nanoseconds as seconds with six decimals.
func appendSeconds(b []byte, nanoseconds int64) []byte {
	b = strconv.AppendInt(b, nanoseconds/1e9, 10)
	b = append(b, '.')
	micros := nanoseconds % 1e9 / 1e3
	for unit := int64(1e5); unit > 0; unit /= 10 {
		b = append(b, byte('0'+micros/unit%10))
	}
	return b
}
