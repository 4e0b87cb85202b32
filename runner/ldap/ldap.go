// Package ldap reads the messages of LDAP clients (RFC 4511) and answers them. It is pure, and accepts any bytes.
package ldap

import "github.com/mcpaudit/mcpaudit/runner/inputs"

// BER tags of messages.
const (
	integer, octets, enumerated, sequence, set = 0x02, 0x04, 0x0a, 0x30, 0x31
)

// Tags of operations.
const (
	bind                         = 0x60
	search, entry, results       = 0x63, 0x64, 0x65
	modify, add, rename, compare = 0x66, 0x68, 0x6c, 0x6e
	remove, removed              = 0x4a, 0x6b
	extended, answered           = 0x77, 0x78
)

// protocolError is the result of an unknown operation.
const protocolError = 2

// Tags of a filter.
const (
	and, or, not         = 0xa0, 0xa1, 0xa2
	equal, part          = 0xa3, 0xa4
	least, most, present = 0xa5, 0xa6, 0x87
	near                 = 0xa8
)

// Bounds of a message: its length in bytes, and the depth of its filter.
const (
	maxMessage = 64 << 10
	maxDepth   = 32
)

// Header is the number of bytes needed to recognize a message.
const Header = 6

// Size returns the length of the message that the bytes begin with; 0 for none.
func Size(first []byte) int {
	tag, at, length, ok := head(first)
	if !ok || tag != sequence || length < Header-1 || length > maxMessage || len(first) > at && first[at] != integer {
		return 0
	}
	return at + length
}

// Begins reports whether the bytes are the beginning of a client's first message: bind, search or an extension.
func Begins(first []byte) bool {
	_, at, _, _ := head(first)
	if Size(first) == 0 || len(first) < at+1 {
		return false
	}
	_, _, operation, ok := next(first[at:])
	return ok && len(operation) > 0 && (operation[0] == bind || operation[0] == search || operation[0] == extended)
}

// head reads the tag and length of an element, and returns where its content begins.
func head(b []byte) (tag byte, at, length int, ok bool) {
	if len(b) < 2 {
		return 0, 0, 0, false
	}
	at, length = 2, int(b[1])
	if length >= 0x80 {
		count := length & 0x7f
		if count == 0 || count > 4 || len(b) < 2+count {
			return 0, 0, 0, false
		}
		at, length = 2+count, 0
		for _, digit := range b[2:at] {
			length = length<<8 | int(digit)
		}
	}
	return b[0], at, length, true
}

// next splits off the first element.
func next(b []byte) (tag byte, content, rest []byte, ok bool) {
	tag, at, length, ok := head(b)
	if !ok || length > len(b)-at {
		return 0, nil, nil, false
	}
	return tag, b[at : at+length], b[at+length:], true
}

// Reply returns the answer to a message: success for everything but extensions, and one person for a search. It is
// empty for messages without an answer.
func Reply(message []byte) []byte {
	_, content, _, _ := next(message)
	_, id, rest, ok := next(content)
	if !ok {
		return nil
	}
	answer := func(tag byte, parts ...[]byte) []byte {
		return element(sequence, element(integer, id), element(tag, parts...))
	}
	done := [][]byte{element(enumerated, []byte{0}), element(octets), element(octets)}
	switch operation, _, _, _ := next(rest); operation {
	case bind, modify, add, rename, compare: // the answer's tag is the next number
		return answer(operation+1, done...)
	case extended: // such as StartTLS
		return answer(answered, element(enumerated, []byte{protocolError}), element(octets), element(octets))
	case remove:
		return answer(removed, done...)
	case search:
		return append(answer(entry, element(octets, []byte("uid=note,dc=example")), element(sequence, attribute("uid"), attribute("cn"), attribute("mail"))), answer(results, done...)...)
	}
	return nil
}

func attribute(name string) []byte {
	return element(sequence, element(octets, []byte(name)), element(set, element(octets, []byte("note"))))
}

// element encodes an element with its parts.
func element(tag byte, parts ...[]byte) []byte {
	var content []byte
	for _, part := range parts {
		content = append(content, part...)
	}
	n := len(content)
	return append([]byte{tag, 0x84, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, content...)
}

// Tested returns the marks that are names of attributes in search filters. Marks in values, or escaped, do not count.
func Tested(sent []byte) (names []string) {
	for len(sent) > 0 {
		_, message, rest, ok := next(sent)
		if !ok || Size(sent) == 0 {
			sent = sent[1:]
			continue
		}
		_, _, operation, _ := next(message)
		if tag, content, _, _ := next(operation); tag == search {
			for range 6 { // base, scope, aliases, two limits, typesOnly
				_, _, content, _ = next(content)
			}
			names = append(names, tested(content, 0)...)
		}
		sent = rest
	}
	return names
}

// tested is Tested for one filter.
func tested(filter []byte, depth int) (names []string) {
	tag, content, _, ok := next(filter)
	if !ok || depth > maxDepth {
		return nil
	}
	name := content
	switch tag {
	case and, or, not:
		for len(content) > 0 {
			names = append(names, tested(content, depth+1)...)
			if _, _, content, ok = next(content); !ok {
				return names
			}
		}
		return names
	case equal, part, least, most, near:
		_, name, _, _ = next(content)
	case present:
	default:
		return nil
	}
	if marks := inputs.Marks(name); len(marks) == 1 && marks[0] == string(name) {
		return marks
	}
	return nil
}
