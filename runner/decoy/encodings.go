package decoy

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// The encodings in which a secret is recognised directly. Others are undone first
// (decode.go); the Encoding of a Match then lists the steps in the order in which
// the server took them: "gzip+base64".
const (
	// Plain is a secret as it is.
	Plain     = "plain"
	reversed  = "reversed"
	percent   = "url"
	hexDigits = "hex"
	// Base64 is defined by RFC 4648, section 4.
	Base64    = "base64"
	base64URL = "base64url"
	base32Std = "base32"
)

// text is one form of a secret.
type text struct {
	id       ID
	encoding string
	bytes    []byte
	secret   int
	// enough is the least number of bytes that are a match: those of at least
	// 15 characters of the secret.
	enough int
}

// forms returns the forms of a secret. If more than the secret was encoded, it may
// begin anywhere in a group of the encoding: each alignment is a form, of the
// characters that depend only on the secret.
func forms(id ID, secret string) []text {
	all := []text{
		{id, Plain, []byte(secret), len(secret), minSecret},
		{id, hexDigits, []byte(hex.EncodeToString([]byte(secret))), len(secret), 2 * minSecret},
		{id, hexDigits, []byte(strings.ToUpper(hex.EncodeToString([]byte(secret)))), len(secret), 2 * minSecret},
	}
	backwards := []byte(secret)
	slices.Reverse(backwards)
	all = append(all, text{id, reversed, backwards, len(secret), minSecret})
	if escaped := url.QueryEscape(secret); escaped != secret {
		all = append(all, text{id, percent, []byte(escaped), len(secret), minSecret})
	}
	for shift := range 3 {
		const enough = 20
		std := aligned(secret, shift, 6, base64.StdEncoding.EncodeToString)
		all = append(all, text{id, Base64, std, len(secret), enough})
		if safe := aligned(secret, shift, 6, base64.URLEncoding.EncodeToString); !slices.Equal(safe, std) {
			all = append(all, text{id, base64URL, safe, len(secret), enough})
		}
	}
	for _, digits := range base85Digits {
		for shift := range 4 {
			if groups := base85(secret, shift, digits); len(groups) > 0 {
				all = append(all, text{id, "base85", groups, len(secret), minSecret / 4 * 5})
			}
		}
	}
	for shift := range 5 {
		all = append(all, text{id, base32Std, aligned(secret, shift, 5, base32.StdEncoding.EncodeToString), len(secret), 24})
	}
	return all
}

// base85Digits has the alphabets of Ascii85 (Adobe), of RFC 1924 (used by Python and Git), and
// of Z85 (ZeroMQ RFC 32).
var base85Digits = []string{
	"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
	digits + upper + lower + "!#$%&()*+-;<=>?@^_`{|}~",
	digits + lower + upper + ".-:+=^!/*?&<>()[]{}@%$#",
}

// base85 encodes the whole groups of four in a secret after the given number of bytes.
func base85(secret string, before int, digits string) (out []byte) {
	for at := (4 - before) % 4; at+4 <= len(secret); at += 4 {
		group, five := binary.BigEndian.Uint32([]byte(secret[at:])), [5]byte{}
		for i := range five {
			five[4-i] = digits[group%85]
			group /= 85
		}
		out = append(out, five[:]...)
	}
	return out
}

// aligned encodes a secret after the given number of bytes, and returns the
// characters, of the given number of bits, that do not depend on those.
func aligned(secret string, before, bits int, encode func([]byte) string) []byte {
	whole := encode(append(make([]byte, before), secret...))
	first, end := (before*8+bits-1)/bits, (before+len(secret))*8/bits
	return []byte(whole[first:end])
}
