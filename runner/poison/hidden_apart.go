package poison

import (
	"encoding/ascii85"
	"strings"
	"unicode"
)

// leastApart is the least number of characters set apart that mean anything.
const leastApart = 24

// fromApart removes a separator that follows every character of a long run: "r.e.a.d. .t.h.e".
func fromApart(text string) string {
	runes := []rune(text[:min(len(text), maxDecoded)])
	var b strings.Builder
	for i := 0; i < len(runes); {
		n := 0
		for sign := runes[min(i+1, len(runes)-1)]; setsApart(sign) && i+2*n+1 < len(runes) && runes[i+2*n+1] == sign; {
			n++
		}
		if n < leastApart {
			b.WriteRune(runes[i])
			i++
			continue
		}
		for range n {
			b.WriteRune(runes[i])
			i += 2
		}
	}
	return b.String()
}

func setsApart(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// rfc1924 has the digits of base85 as RFC 1924, Git and Python use them; Ascii85 has those from "!" on.
const rfc1924 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

func fromBase85(run string) string {
	return fromASCII85(strings.Map(func(r rune) rune { return rune('!' + max(0, strings.IndexRune(rfc1924, r))) }, run))
}

func fromASCII85(run string) string {
	run = strings.TrimSuffix(strings.TrimPrefix(run, "<~"), "~>")
	decoded := make([]byte, 4*len(run)+4)
	n, _, err := ascii85.Decode(decoded, []byte(run), true)
	return orNothing(string(decoded[:n]), err)
}
