package attack

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// partForms write a value that is a part of the host in a URL, or its port, so that
// the URL leads to another host: "!" stands for that, "{}" for the honest value.
var partForms = []form{
	part("as a host, and the rest as the fragment", "!/#"),
	part("as user information, and the rest as the fragment", "{}@!/#"),
	part("as user information, and the rest as a path", "{}@!/"),
	part("as a host, and the rest as a path", "!/"),
	part("as a host, and the rest as the query", "!?"),
	part("as a host, and the rest as the fragment, without a slash", "!#"),
	part("as a host, and the rest behind a backslash", `!\`),
	part("behind a dot, and the rest as a path", "{}.!/"),
	part("as a name below another host", ".!/"),
	part("behind user information without a name", "@!/"),
	part("as a host, and the rest as a port", "!:80/"),
}

// routeForms do the same for the path of a request, which follows the host.
var routeForms = []form{
	part("as a host behind two slashes", "//!/"),
	part("as a name below another host", ".!/"),
	part("behind user information", "@!/"),
	part("as a host behind a slash and a backslash", `/\!/`),
}

const maxParts = 3 // fields of one target

func part(name, pattern string) form {
	return form{name: name, aim: AimPart, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.honest(m), "!", m.Host()).Replace(pattern) + f.behind
	}}
}

// partSteps returns the attempts on values that became a part of the target of a connection.
func partSteps(fields []field, seen Seen) []step {
	var parts, routes []field
	for _, f := range fields {
		switch {
		case f.variable != "" || f.next || f.item:
		case len(parts) < maxParts && seen.part(f):
			parts = append(parts, f)
		case len(routes) < maxParts && seen.route(f):
			routes = append(routes, f)
		}
	}
	return alternate(formed(Egress, partForms, parts), formed(Egress, routeForms, routes))
}

var (
	// label matches one or more labels of a host.
	label = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$`)
	// wholeHost matches names and descriptions of whole hosts.
	wholeHost = lazyregexp.New(`(?i)\b(?:host|host ?name|domain|fqdn|ur[il]|address|endpoint|server)s?\b`)
)

// route reports whether an honest value may be the path of a request, and no more than that.
func (s Seen) route(f field) bool {
	return s.Network && f.text && !f.speaksOf(wholeHost) && strings.HasPrefix(f.core(), "/") && !slices.Contains(s.Files, f.core())
}

// part reports whether an honest value was a part of a host that was connected to or looked up,
// except its end, or was the port.
func (s Seen) part(f field) bool {
	value := strings.ToLower(f.core())
	if port, err := strconv.Atoi(value); err == nil && slices.Contains(s.Ports, port) {
		return true
	}
	if !f.text || !label.MatchString(value) || f.speaksOf(wholeHost) {
		return false
	}
	return slices.ContainsFunc(s.Hosts, func(host string) bool {
		host = strings.ToLower(host)
		return strings.Contains("."+host, "."+value+".") || strings.Contains(host, "-"+value+".") || strings.HasPrefix(host, value+"-")
	})
}
