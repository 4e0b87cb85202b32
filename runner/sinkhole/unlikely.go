package sinkhole

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// privateDomains are top-level domains that no registry sells names of but people
// use: at home, in clusters and offices (RFC 6762, appendix G; RFC 8375; ICANN's
// "internal"), in tests and documentation (RFC 6761). Names of the probe are there.
var privateDomains = []string{
	"corp", "example", "home", "internal", "intranet", "lan", "local", "localdomain", "localhost", "private", "test",
}

// unlikely reports whether a host name in lower case hardly exists: its top-level domain
// does not, or its registered name looks random.
func unlikely(host string) bool {
	labels := strings.Split(host, ".")
	top := labels[len(labels)-1]
	if slices.Contains(privateDomains, top) {
		return false
	}
	if len(labels) == 1 {
		return random(host)
	}
	suffix, managed := publicsuffix.PublicSuffix(host)
	if !managed && !strings.Contains(suffix, ".") {
		return true // the list's default rule: no registry has it (publicsuffix.PublicSuffix)
	}
	if top == "onion" {
		return true // never in DNS (RFC 7686, 2)
	}
	registered, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return false // a suffix itself
	}
	name, _, _ := strings.Cut(registered, ".")
	return random(name)
}

// The limits of random, in characters.
const (
	minRandom      = 10
	maxConsonants  = 4 // in a row
	maxAlternation = 3 // changes from letters to digits and back
)

// random reports whether a label looks random: no word has so many consonants in a row,
// and no name so many digits among its letters. Punycode is not judged.
func random(label string) bool {
	if len(label) < minRandom || strings.ContainsAny(label, "-_") {
		return false
	}
	consonants, longest, changes := 0, 0, 0
	for i, c := range []byte(label) {
		digit := isDigit(c)
		if i > 0 && digit != isDigit(label[i-1]) {
			changes++
		}
		if digit || strings.IndexByte("aeiouy", c) >= 0 {
			consonants = 0
			continue
		}
		consonants++
		longest = max(longest, consonants)
	}
	return longest > maxConsonants || changes > maxAlternation
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
