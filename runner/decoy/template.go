package decoy

import (
	"crypto/rand"
	"strconv"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// alphabets has the alphabet that the letter in a template's placeholder stands for.
var alphabets = map[string]string{
	"a": digits + upper + lower,
	"d": digits,
	"u": upper + "234567", // RFC 4648 base32, as in AWS key ids
	"x": digits + "abcdef",
	"b": digits + upper + lower + "-_", // RFC 4648 base64url, as in a JWT
}

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
)

// placeholder is {LETTER LENGTH}: "{a36}" is 36 random letters and digits.
var placeholder = lazyregexp.New(`\{[adubx][0-9]+\}`)

// fill replaces the placeholders of a template. The random words of at least
// minSecret characters are its secrets; shorter ones are only for looks (an
// account number).
func fill(template string) (text string, secrets []string) {
	text = placeholder.ReplaceAllStringFunc(template, func(p string) string {
		length, err := strconv.Atoi(p[2 : len(p)-1])
		if err != nil {
			panic(err) // the templates are constants of this package
		}
		word := random(alphabets[p[1:2]], length)
		for !recognisable(word) {
			word = random(alphabets[p[1:2]], length)
		}
		if length >= minSecret {
			secrets = append(secrets, word)
		}
		return word
	})
	return text, secrets
}

// template returns a kind's make function for a text with placeholders.
func template(text string) func() (string, []string, error) {
	return func() (string, []string, error) {
		content, secrets := fill(text)
		return content, secrets, nil
	}
}

// random returns length characters of the alphabet, uniformly distributed. It
// cannot fail: crypto/rand ends the process rather than return an error.
func random(alphabet string, length int) string {
	most := 256 - 256%len(alphabet) // bytes from here on would favour the first characters
	b := make([]byte, 0, length)
	for draw := make([]byte, 2*length); len(b) < length; {
		if _, err := rand.Read(draw); err != nil {
			panic(err)
		}
		for _, v := range draw {
			if int(v) < most && len(b) < length {
				b = append(b, alphabet[int(v)%len(alphabet)])
			}
		}
	}
	return string(b)
}
