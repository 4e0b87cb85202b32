package profile

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	"golang.org/x/net/publicsuffix"
)

// Canonical returns the profile with the canonical host of each effect. Code that compares
// or names hosts starts from it, so that all of it uses the same names.
func (p Profile) Canonical(search []string) Profile {
	p.Effects = slices.Clone(p.Effects)
	for i := range p.Effects {
		e := &p.Effects[i]
		e.Host, e.FQDN = CanonicalHost(e.Host, search)
	}
	return p
}

// CanonicalHost returns the name behind a name that was looked up: in lower case, without
// the final dot and without the search domains of the machine, which a resolver appends to
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

// service matches the full name of a Service in a cluster.
var service = lazyregexp.New(`^[^.]+\.[^.]+\.svc\.[^.]`)

// Local reports whether a canonical host is valid only in its search domain, such as "db" and
// the Service "db.prod". Others are below a public suffix. A namespace may have the name of
// one, but only a Service has such an FQDN.
func Local(host, fqdn string) bool {
	suffix, icann := publicsuffix.PublicSuffix(host)
	return fqdn != "" && (!icann || suffix == host || service.MatchString(fqdn))
}
