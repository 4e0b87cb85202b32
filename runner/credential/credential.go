// Package credential finds credentials in texts: keys whose issuers give them a form, private
// keys, JSON web tokens, passwords in URLs, and values behind words such as "password:" that
// look drawn by chance. What documentation puts in their place is none.
//
// It is pure, takes linear time, and reads no more than a bounded part of each text. The
// audit applies it to what a server says by itself.
package credential

import (
	"cmp"
	"slices"
	"strings"
)

// Kind says how a credential is known.
type Kind string

// The kinds.
const (
	// Issued: it has the form that its issuer gives to all of them.
	Issued Kind = "Issued"
	// PrivateKey is a key in PEM (RFC 7468).
	PrivateKey Kind = "PrivateKey"
	// WebToken is a signed JWT (RFC 7519).
	WebToken Kind = "WebToken"
	// URL is the password in a URL (RFC 3986, 3.2.1).
	URL Kind = "URL"
	// Labelled stands behind a word that calls it a credential.
	Labelled Kind = "Labelled"
)

// Credential is one that stands in a text.
type Credential struct {
	Kind Kind
	// What it is, for the middle of a sentence: "a Stripe key".
	What string
	// Value is the secret part, as it stands in the text.
	Value string
	// Live: it opens something if it was ever issued, and has the form and, where its
	// issuer has one, the checksum of one that was.
	Live bool

	at int
}

// The bounds: of the text that is read, in bytes, and of what is found in it, by number.
const (
	maxText  = 64 << 10
	maxFound = 16
)

// Find returns the credentials in a text, in their order. Of two that overlap, the one that
// says more is kept.
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
