package trace

import (
	"bytes"
	"strconv"
	"strings"
)

// descriptor splits "5</etc/hosts>" or "AT_FDCWD</work>". The decoration comes
// without its angle brackets and with its escapes; nil if there is none.
func descriptor(arg []byte) (number int64, decor []byte) {
	open := bytes.IndexByte(arg, '<')
	if open < 0 {
		return integer(arg), nil
	}
	n := decoration(arg[open:])
	if n < 0 {
		return integer(arg[:open]), nil
	}
	return integer(arg[:open]), arg[open+1 : open+n-1]
}

// integer reads a leading decimal or 0x number; -1 if there is none.
func integer(s []byte) int64 {
	end := 0
	for end < len(s) && (isWord(s[end]) || (end == 0 && s[end] == '-')) {
		end++
	}
	n, err := strconv.ParseInt(string(s[:end]), 0, 64)
	if err != nil {
		return -1
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// filePath returns the path of a file's decoration, without the device and with
// escapes resolved; ok is false for pipes, sockets and other nameless things.
func filePath(decor []byte) (path string, ok bool) {
	if len(decor) == 0 || decor[0] != '/' {
		return "", false
	}
	if i := bytes.IndexByte(decor, '<'); i >= 0 { // the device; a '<' of the name is \74
		decor = decor[:i]
	}
	return string(unescape(nil, decor)), true
}

// stream returns the inode of a pipe, or of the unix socket that is stdin or stdout; 0 for all others.
func (d *decoder) stream(decor []byte) uint64 {
	if bytes.HasPrefix(decor, []byte("UNIX")) {
		_, digits, _ := strings.Cut(identity(decor), "[")
		if n, err := strconv.ParseUint(digits, 10, 64); err == nil && n != 0 && (n == d.cfg.Stdin || n == d.cfg.Stdout) {
			return n
		}
	}
	return pipeInode(decor)
}

// pipeInode returns N of the decoration "pipe:[N]"; 0 for others.
func pipeInode(decor []byte) uint64 {
	digits, ok := bytes.CutPrefix(decor, []byte("pipe:["))
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(string(bytes.TrimSuffix(digits, []byte("]"))), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// text decodes a string argument: "abc", or "abc"... if it was cut. kind says what
// else it may be.
func text(arg []byte) (value []byte, kind textKind) {
	if len(arg) > 0 && arg[0] == '@' { // an abstract socket name
		value, kind = text(arg[1:])
		return append([]byte{'@'}, value...), kind
	}
	if len(arg) > 0 && arg[0] == '"' {
		n := quoted(arg)
		if n < 0 {
			return nil, textOther
		}
		value = unescape(make([]byte, 0, n-2), arg[1:n-1])
		if bytes.HasPrefix(arg[n:], []byte("...")) {
			return value, textCut
		}
		return value, textWhole
	}
	switch {
	case bytes.HasPrefix(arg, []byte("0x")):
		return nil, textPointer
	case bytes.HasPrefix(arg, []byte("NULL")):
		return nil, textNull
	}
	return nil, textOther
}

type textKind int

const (
	textOther   textKind = iota // a structure, or nothing
	textWhole                   // the whole string
	textCut                     // the beginning of a string
	textNull                    // NULL
	textPointer                 // a raw address: strace could not read it
)

// unescape appends s to dst, C escapes resolved (strace writes \n, \t, \v, \f,
// \r, \", \\ and one to three octal digits).
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		next := bytes.IndexByte(s[i:], '\\')
		if next < 0 {
			return append(dst, s[i:]...)
		}
		dst = append(dst, s[i:i+next]...)
		i += next + 1
		if i >= len(s) {
			return dst
		}
		if c := s[i]; c < '0' || c > '7' {
			dst = append(dst, simpleEscape(c))
			continue
		}
		value := 0
		for end := i + 3; ; i++ {
			value = value*8 + int(s[i]-'0')
			if i+1 == end || i+1 == len(s) || s[i+1] < '0' || s[i+1] > '7' {
				break
			}
		}
		dst = append(dst, byte(value))
	}
	return dst
}

func simpleEscape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	}
	return c
}

// field returns the value of a structure's member: field(`{a=1, b={c=2}}`, "b")
// is `{c=2}`; nil if there is none.
func field(structure []byte, name string) []byte {
	if len(structure) == 0 || structure[0] != '{' {
		return nil
	}
	var buffer [12][]byte
	members, _, err := split(buffer[:0], structure[1:])
	if err != nil {
		return nil
	}
	for _, m := range members {
		if len(m) > len(name) && m[len(name)] == '=' && string(m[:len(name)]) == name {
			return m[len(name)+1:]
		}
	}
	return nil
}

// elements returns the values of an array: "[a, b]".
func elements(array []byte) [][]byte {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	parts, _, err := split(nil, array[1:])
	if err != nil {
		return nil
	}
	return parts
}

// flags returns the names of "A|B|0x8".
func flags(arg []byte) []string {
	var names []string
	for part := range bytes.SplitSeq(arg, []byte("|")) {
		names = append(names, string(part))
	}
	return names
}

func hasFlag(arg []byte, name string) bool {
	for part := range bytes.SplitSeq(arg, []byte("|")) {
		if string(part) == name {
			return true
		}
	}
	return false
}

// translated returns N of a pid that is followed by "/* N in strace's PID NS */",
// else the pid itself.
func translated(arg []byte) int {
	if _, note, ok := bytes.Cut(arg, []byte("/* ")); ok {
		if pid := integer(note); pid > 0 {
			return int(pid)
		}
	}
	return int(integer(arg))
}
