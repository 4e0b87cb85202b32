package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of canonical forms; a text that exceeds them is hashed as it is.
const (
	// maxBytes bounds the size of one JSON text: 4 MiB.
	maxBytes = 4 << 20
	// maxDepth bounds the nesting of arrays and objects.
	maxDepth = 200
)

// ErrNotCanonical is the error of JSON that has no canonical form: it is
// invalid, too large, too deep, or not I-JSON (RFC 7493: a key twice in one
// object, invalid UTF-8, half a surrogate pair).
var ErrNotCanonical = errors.New("JSON has no canonical form")

// Canonical returns the canonical form of RFC 8785, with one deviation: a number
// that a double cannot represent keeps all its digits. In the RFC's form
// 9007199254740992 and 9007199254740993 are the same text, which would hide a
// change from one to the other.
//
// It does not use jcs.Transform, with which tests compare it: that takes quadratic
// time in the number of keys, has no depth limit, and ignores errors in keys.
func Canonical(raw []byte) ([]byte, error) {
	switch {
	case len(raw) > maxBytes:
		return nil, fmt.Errorf("%w: %d bytes", ErrNotCanonical, len(raw))
	case !json.Valid(raw):
		return nil, fmt.Errorf("%w: invalid JSON", ErrNotCanonical)
	case !utf8.Valid(raw):
		return nil, fmt.Errorf("%w: invalid UTF-8", ErrNotCanonical)
	case hasLoneSurrogate(raw):
		return nil, fmt.Errorf("%w: half a surrogate pair", ErrNotCanonical)
	}
	c := canonicaliser{decoder: json.NewDecoder(bytes.NewReader(raw))}
	c.decoder.UseNumber()
	if err := c.value(0); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

type canonicaliser struct {
	decoder *json.Decoder
	out     bytes.Buffer
}

func (c *canonicaliser) value(depth int) error {
	token, err := c.decoder.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	switch v := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return fmt.Errorf("%w: nested deeper than %d", ErrNotCanonical, maxDepth)
		}
		if v == '[' {
			return c.array(depth + 1)
		}
		return c.object(depth + 1)
	case string:
		writeString(&c.out, v)
	case json.Number:
		return writeNumber(&c.out, v.String())
	case bool:
		c.out.WriteString(strconv.FormatBool(v))
	default:
		c.out.WriteString("null")
	}
	return nil
}

func (c *canonicaliser) array(depth int) error {
	c.out.WriteByte('[')
	for first := true; c.decoder.More(); first = false {
		if !first {
			c.out.WriteByte(',')
		}
		if err := c.value(depth); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	_, err := c.decoder.Token()
	return err
}

// object writes the members in their given order, notes where each begins, and
// then sorts them by key.
func (c *canonicaliser) object(depth int) error {
	type member struct {
		key        []uint16 // RFC 8785, 3.2.3: keys sort by UTF-16 code units
		start, end int
	}
	var members []member
	start := c.out.Len()
	for c.decoder.More() {
		token, err := c.decoder.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotCanonical, err)
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("%w: %v is no key", ErrNotCanonical, token)
		}
		m := member{key: utf16.Encode([]rune(key)), start: c.out.Len()}
		writeString(&c.out, key)
		c.out.WriteByte(':')
		if err := c.value(depth); err != nil {
			return err
		}
		m.end = c.out.Len()
		members = append(members, m)
	}
	if _, err := c.decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrNotCanonical, err)
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.key, b.key) })

	sorted := make([]byte, 0, c.out.Len()-start+len(members)+2)
	sorted = append(sorted, '{')
	for i, m := range members {
		if i > 0 {
			if slices.Equal(m.key, members[i-1].key) {
				return fmt.Errorf("%w: key %q twice", ErrNotCanonical, string(utf16.Decode(m.key)))
			}
			sorted = append(sorted, ',')
		}
		sorted = append(sorted, c.out.Bytes()[m.start:m.end]...)
	}
	c.out.Truncate(start)
	c.out.Write(append(sorted, '}'))
	return nil
}

// writeString writes the string form of RFC 8785, 3.2.2.2, with the fewest
// escapes.
func writeString(out *bytes.Buffer, s string) {
	const short = "\b\t\n\f\r\"\\"
	const letters = "btnfr\"\\"
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case bytes.IndexByte([]byte(short), c) >= 0:
			out.WriteByte('\\')
			out.WriteByte(letters[bytes.IndexByte([]byte(short), c)])
		case c < 0x20:
			fmt.Fprintf(out, `\u%04x`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
}

// hasLoneSurrogate finds a \uD800..\uDFFF escape without its other half, which
// encoding/json would silently turn into U+FFFD. raw is valid JSON.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped byte, which may be a backslash itself
		if raw[i] != 'u' {
			continue
		}
		first := codeUnit(raw[i+1 : i+5])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if len(raw) < i+7 || raw[i+1] != '\\' || raw[i+2] != 'u' ||
			utf16.DecodeRune(first, codeUnit(raw[i+3:i+7])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func codeUnit(hex []byte) rune {
	unit, err := strconv.ParseUint(string(hex), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
