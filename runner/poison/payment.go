package poison

import (
	"math/big"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// A description may explain the format of accounts. But a valid account that is to replace another diverts
// payments.

var (
	iban   = lazyregexp.New(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b`)
	card   = lazyregexp.New(`\b\d(?:[ -]?\d){12,18}\b`)
	wallet = lazyregexp.New(`\b(?:0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{20,71}|[13][1-9A-HJ-NP-Za-km-z]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33})\b`)
	// isExample matches the words before an example of a number.
	isExample = lazyregexp.New(`(?i)\be\.?\s?g\.|\bexamples?\b|\bsuch as\b|\blike\b|\bformat\b|\bsample\b|\btest\b|beispiel|e[xj]e?mpl[eo]|пример`)
)

// payee reports whether a text has an account, card or wallet.
func payee(text string) bool {
	for _, kind := range []struct {
		form  *lazyregexp.Regexp
		valid func(string) bool
	}{{iban, validIBAN}, {card, validCard}, {wallet, func(string) bool { return true }}} {
		for _, at := range kind.form.FindAllStringIndex(text, maxRuns) {
			for end := at[1]; end > at[0]; end = max(at[0], strings.LastIndexByte(text[at[0]:end], ' ')+at[0]) {
				if kind.valid(text[at[0]:end]) {
					return true
				}
			}
		}
	}
	return false
}

// validIBAN checks the checksum of ISO 13616: the rearranged number modulo 97 is 1.
func validIBAN(text string) bool {
	text = strings.ReplaceAll(text, " ", "")
	if len(text) < 15 || len(text) > 34 {
		return false
	}
	var digits strings.Builder
	for _, c := range text[4:] + text[:4] {
		if c >= 'A' {
			digits.WriteString(big.NewInt(int64(c - 'A' + 10)).String())
		} else {
			digits.WriteRune(c)
		}
	}
	n, ok := new(big.Int).SetString(digits.String(), 10)
	return ok && n.Mod(n, big.NewInt(97)).Int64() == 1
}

// validCard checks a card number by the Luhn algorithm.
func validCard(text string) bool {
	sum, n := 0, 0
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if n++; n%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return n >= 15 && n <= 16 && sum%10 == 0 && strings.ContainsRune("3456", rune(text[0]))
}

// diverts reports whether a sentence replaces a means of payment by another.
func (r *reader) diverts(all []sentence, i int) verdict {
	s := &all[i]
	own := r.text[s.Start:s.End]
	if !payee(own) || isExample.MatchString(own) {
		return verdict{}
	}
	if s.has(displaces) || s.has(fixed) && s.has(payments) {
		return verdict{confidence: 0.85}
	}
	for _, rd := range readings(own) {
		if rd.name != english && rd.has(partChange, partReplaced, partMust) {
			return verdict{confidence: 0.75}
		}
	}
	return verdict{}
}
