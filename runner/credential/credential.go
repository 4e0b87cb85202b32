// Package credential finds credentials in texts: keys with their issuer's format, private keys, JSON web tokens,
// passwords in URLs, and random-looking values behind words such as "password:". Placeholders in documentation are
// not credentials.
//
// It is pure, takes linear time, and reads only a bounded part of each text. The audit applies it to what a server
// says by itself.
package credential

import (
	"cmp"
	"slices"
	"strings"
)

// Kind says how a credential was recognized.
type Kind string

// The kinds.
const (
	// Issued has the format of its issuer's keys.
	Issued Kind = "Issued"
	// PrivateKey is a key in PEM (RFC 7468).
	PrivateKey Kind = "PrivateKey"
	// WebToken is a signed JWT (RFC 7519).
	WebToken Kind = "WebToken"
	// URL is the password in a URL (RFC 3986, 3.2.1).
	URL Kind = "URL"
	// Labelled follows a word that calls it a credential.
	Labelled Kind = "Labelled"
)

// Credential is one credential in a text.
type Credential struct {
	Kind Kind
	// What describes it, for the middle of a sentence: "a Stripe key".
	What string
	// Value is the secret part, as in the text.
	Value string
	// Live is set if it could be in use: it has the format and, if its issuer uses one, the checksum of a real
	// credential.
	Live bool

	at int
}

// Bounds on the text that is read, in bytes, and on the number of credentials found in it.
const (
	maxText  = 64 << 10
	maxFound = 16
)

// Find returns the credentials in a text, in order. Of two that overlap, the more specific one is kept.
func Find(text string) []Credential {
	text = text[:min(len(text), maxText)]
	var all []Credential
	for _, find := range []func(string) []Credential{privateKeys, issued, webTokens, inURLs, labelled} {
		for _, c := range find(text) {
			known := slices.ContainsFunc(all, func(k Credential) bool {
				return k.Value == c.Value || c.at < k.at+len(k.Value) && k.at < c.at+len(c.Value)
			})
			if !known && len(all) < maxFound {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Credential) int { return cmp.Compare(a.at, b.at) })
	return all
}

// Shorten shows the first four and the last two characters of a secret.
func Shorten(secret string) string {
	runes := []rune(strings.TrimSpace(secret))
	if len(runes) < 8 {
		return "…"
	}
	return string(runes[:4]) + "…" + string(runes[len(runes)-2:])
}
