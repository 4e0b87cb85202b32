package profile

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	"golang.org/x/net/publicsuffix"
)

// Canonical returns the profile with the canonical host of each effect. What compares
// hosts or names them starts from it, so that all speak of the same ones.
func (p Profile) Canonical(search []string) Profile {
	p.Effects = slices.Clone(p.Effects)
	for i := range p.Effects {
		e := &p.Effects[i]
		e.Host, e.FQDN = CanonicalHost(e.Host, search)
	}
	return p
}

// CanonicalHost returns the name behind a name that was looked up: in lower case, without
// the final dot and without the search domains of the machine, with which a resolver tries
// each name (resolv.conf(5), "ndots"). The domains are in lower case and without dots at
// their ends. fqdn is the name with the last domain that was cut off; empty if none was.
func CanonicalHost(host string, search []string) (name, fqdn string) {
	name = strings.TrimSuffix(strings.ToLower(host), ".")
	for {
		rest := ""
		for _, domain := range search { // the longest that fits: one may end another
			cut, ok := strings.CutSuffix(name, "."+domain)
			if ok && cut != "" && domain != "" && (rest == "" || len(cut) < len(rest)) {
				rest = cut
			}
		}
		if rest == "" {
			return name, fqdn
		}
		name, fqdn = rest, name
	}
}

// service is the full name of a Service of a cluster.
var service = lazyregexp.New(`^[^.]+\.[^.]+\.svc\.[^.]`)

// Local reports whether a canonical host is of use in its search domain alone, such as "db"
// and the Service "db.prod". All others are below a suffix of the internet's, with which a
// namespace may share its name: nothing but a Service is found at such an FQDN.
func Local(host, fqdn string) bool {
	suffix, icann := publicsuffix.PublicSuffix(host)
	return fqdn != "" && (!icann || suffix == host || service.MatchString(fqdn))
}
