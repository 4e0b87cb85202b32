package trace

import (
	"bytes"
	"errors"
)

// The grammar of strace's output, as far as it matters here. Whatever a server
// can choose (paths, contents, socket and program names) is printed inside
// quotes, or inside the <...> that follows a descriptor; there strace escapes
// quotes, backslashes, control characters and, within <...>, the angle
// brackets themselves (\74, \76). So one pass that knows these two contexts
// cannot be misled: anything else that looks like syntax is syntax.

var errSyntax = errors.New("not the output of strace")

const (
	unfinishedMark = "<unfinished ...>"
	resumedMark    = "<... "
)

// split cuts the comma-separated values that begin at s[0] and end before the
// closing bracket that matches an opening one just before s. It appends them to
// parts, spaces trimmed, and returns what follows the bracket.
func split(parts [][]byte, s []byte) (_ [][]byte, rest []byte, err error) {
	depth, start := 0, 0
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '"':
			n := quoted(s[i:])
			if n < 0 {
				return parts, nil, errSyntax
			}
			i += n
			continue
		case '<':
			n := angled(s, i)
			if n < 0 {
				return parts, nil, errSyntax
			}
			i += n
			continue
		case '/':
			if n := comment(s[i:]); n > 0 {
				i += n
				continue
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return appendPart(parts, s[start:i]), s[i+1:], nil
			}
			depth--
		case ',':
			if depth == 0 {
				parts, start = appendPart(parts, s[start:i]), i+1
			}
		}
		i++
	}
	return parts, nil, errSyntax
}

// appendPart appends a value, if there is one, without the marks of a call
// that was interrupted.
func appendPart(parts [][]byte, part []byte) [][]byte {
	part = bytes.TrimSpace(part)
	part = bytes.TrimSpace(bytes.TrimSuffix(part, []byte(unfinishedMark)))
	if len(part) == 0 {
		return parts
	}
	return append(parts, part)
}

// quoted returns the length of the string literal that s begins with, including
// both quotes; -1 if it has no end.
func quoted(s []byte) int {
	for i := 1; ; {
		end := bytes.IndexByte(s[i:], '"')
		if end < 0 {
			return -1
		}
		i += end + 1
		backslashes := 0
		for s[i-2-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
	}
}

// angled returns the length of the text that begins with the '<' at s[i]: the
// decoration of a descriptor, a shift ("1<<CAP_CHOWN"), or a mark between spaces;
// -1 if it has no end.
func angled(s []byte, i int) int {
	tail := s[i:]
	if i == 0 || s[i-1] == ' ' || s[i-1] == '(' {
		if bytes.HasPrefix(tail, []byte(unfinishedMark)) {
			return len(unfinishedMark)
		}
		if bytes.HasPrefix(tail, []byte(resumedMark)) { // "<... resuming interrupted read ...>"
			return bytes.IndexByte(tail, '>') + 1
		}
		return -1
	}
	if bytes.HasPrefix(tail, []byte("<<")) {
		return 2
	}
	return decoration(tail)
}

// decoration returns the length of the <...> that s begins with. A file's is a
// path, with the device nested in it: </dev/null<char 1:3>>. Others are brackets
// that may contain arrows and quoted names: <UNIX-STREAM:[5->6,@"x"]>.
func decoration(s []byte) int {
	if len(s) > 1 && s[1] == '/' {
		return pathDecoration(s)
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := quoted(s[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '[':
			depth++
		case ']':
			depth--
		case '>':
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func pathDecoration(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// comment returns the length of the /* comment */ that s begins with, or 0.
func comment(s []byte) int {
	if !bytes.HasPrefix(s, []byte("/*")) {
		return 0
	}
	end := bytes.Index(s, []byte("*/"))
	if end < 0 {
		return 0
	}
	return end + 2
}
