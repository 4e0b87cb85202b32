package squat

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// imitated are hosts that may be imitated, and the words that imitations add to their names.
type imitated struct{ Hosts, Beside []string }

var places = sync.OnceValue(func() imitated { return words.Read[imitated]("hosts") })

// minHost is the shortest name of a host in which a typing error counts.
const minHost = 6

// Host compares the host of a URL with those at which people sign in.
func Host(host string) (Likeness, bool) {
	if shown, err := idna.ToUnicode(host); err == nil {
		host = shown
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || slices.Contains(places().Hosts, domain) {
		return Likeness{}, false
	}
	name, _, _ := strings.Cut(domain, ".")
	for _, of := range places().Hosts {
		known, _, _ := strings.Cut(of, ".")
		switch {
		case name != known && (strings.Contains("."+host, "."+of+".") || strings.Contains("."+host, "."+of+"-")):
			return Likeness{of, "that name stands before another domain"}, true
		case name != known && skeleton(name) == skeleton(known):
			return Likeness{of, alike}, true
		case len(known) >= minHost && near(name, known) != "" && !isKnown(name):
			return Likeness{of, near(name, known)}, true
		case withWord(name, known):
			return Likeness{of, "a word is put beside the name"}, true
		}
	}
	return Likeness{}, false
}

// withWord reports whether a name is a known one, or looks like it, with a word added.
func withWord(name, known string) bool {
	for i, c := range name {
		if c != '-' {
			continue
		}
		before, after := name[:i], name[i+1:]
		if skeleton(before) == skeleton(known) && slices.Contains(places().Beside, after) ||
			skeleton(after) == skeleton(known) && slices.Contains(places().Beside, before) {
			return true
		}
	}
	return false
}

// Site returns the registered domain of a host, if it is one at which people sign in.
func Site(host string) (string, bool) {
	domain, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(host))
	return domain, err == nil && slices.Contains(places().Hosts, domain)
}

func isKnown(name string) bool {
	return known().names[name] || slices.ContainsFunc(places().Hosts, func(of string) bool { return strings.HasPrefix(of, name+".") })
}
