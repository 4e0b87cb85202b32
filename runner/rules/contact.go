package rules

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// The rules that a contact can be found by.
const (
	idUndeclaredEgress    = "MCPA-EGRESS-001"
	idMetadataService     = "MCPA-EGRESS-002"
	idOtherHost           = "MCPA-EGRESS-003"
	idStartupEgress       = "MCPA-EGRESS-004"
	idIdleEgress          = "MCPA-EGRESS-005"
	idUndeclaredTelemetry = "MCPA-EGRESS-006"
	idOwnResolver         = "MCPA-EGRESS-007"
)

// contact is the judgement of one effect on the network. Each effect makes at most one
// finding, of the most specific rule.
type contact struct {
	rule     string // its id; "" for no finding
	severity report.Severity
	// why ends the message.
	why string
	// object replaces the destination.
	object string
	// exceeded is set if an operator's list lacks it.
	exceeded bool
}

// contacts judges effects of one profile.
type contacts struct {
	in Input
	// follow are the capabilities that connect to hosts of their arguments.
	follow map[report.Capability]bool
	// early are the destinations of the server before any call, busy all but those when idle
	// and at the end.
	early, busy map[string]bool
	// absent are the domains of the registries of the launcher in the command.
	absent []string
	// served has, by owner of a host, the capabilities that name the owner and connect there.
	served map[string]map[report.Capability]bool
}

func (in Input) contacts() contacts {
	c := contacts{in: in, follow: map[report.Capability]bool{}, early: map[string]bool{}, busy: map[string]bool{},
		absent: sinkhole.RegistriesOf(in.Command).Absent, served: map[string]map[report.Capability]bool{}}
	for _, e := range in.Profile.Effects {
		if e.Kind != profile.KindConnect || !outward(e) {
			continue
		}
		to := destinationHost(e)
		if begins(e) {
			c.early[to] = true
		}
		if !ends(e) {
			c.busy[to] = true
		}
		if _, ok := in.Explains(e); ok {
			c.follow[e.Capability] = true
		}
		if owner := ownerOf(egressUse(e).Host); owner != "" && !lexicon().GenericWords[owner] && in.Scope.Own(e.Capability).Mentions(owner) {
			if c.served[owner] == nil {
				c.served[owner] = map[report.Capability]bool{}
			}
			c.served[owner][e.Capability] = true
		}
	}
	return c
}

// destinationHost returns a destination without its port, which makes look-ups and
// connections the same.
func destinationHost(e profile.Effect) string { return cmp.Or(e.Host, e.Address) }

// begins and ends report effects outside calls: before the first, and when idle or after
// the last.
func begins(e profile.Effect) bool {
	return e.Phase == report.PhaseStartup || e.Phase == report.PhaseHandshake || e.Phase == report.PhaseList
}

func ends(e profile.Effect) bool {
	return e.Capability.Kind == report.CapabilityServer && !begins(e)
}

// of judges one effect: by the operator's list, by what explains it, by its destination,
// and last by what the declaration says about the network.
func (c contacts) of(e profile.Effect) contact {
	in := c.in
	if !outward(e) || c.ofLauncher(e) {
		return contact{}
	}
	answer, entry := in.answer(e)
	_, closed := in.hintOnly(e.Capability)
	switch {
	case answer == scope.Exceeded:
		return exceeded(entry, in.asks(e) || in.invents(e))
	case in.ofMetadata(e) && !(answer == scope.Allowed && entry.Source == report.ScopeSpec):
		return contact{rule: idMetadataService, severity: report.SeverityHigh,
			why: "where a cloud hands out the machine's credentials; nothing in its declaration speaks of a cloud"}
	case in.configured(e), answer == scope.Allowed, closed: // MCPA-HINT-004
		return contact{}
	}
	return c.undeclared(e)
}

// configured reports whether the server's configuration has the host: the operator's, or the audit's in its place.
func (in Input) configured(e profile.Effect) bool {
	return in.chosen.has(addressee(e)) || in.invents(e)
}

// invents reports whether the audit made up the host for a variable that the server asked for. It does not excuse a
// server whose texts deny the network.
func (in Input) invents(e profile.Effect) bool {
	stance, _ := in.Scope.Network(e.Capability)
	_, onlyHint := in.hintOnly(e.Capability)
	return in.invented.has(addressee(e)) && (stance != scope.Denied || onlyHint)
}

// addressee returns the contacted host, or its address if only the server vouches for the name.
func addressee(e profile.Effect) string { return cmp.Or(egressUse(e).Host, e.Address) }

// answer asks the declared scope about a contact. A declared host includes hosts below it whose label is an
// argument: "eu-west" of eu-west.builds.example.com.
func (in Input) answer(e profile.Effect) (scope.Answer, scope.Clause) {
	use := egressUse(e)
	answer, entry := in.Scope.Answer(e.Capability, use)
	for _, a := range in.Arguments[e.Capability] {
		if answer != scope.Unsaid || use.Host == "" {
			break
		}
		label := strings.ToLower(a.Value) + "."
		if above, ok := strings.CutPrefix(use.Host, label); ok && strings.Contains(above, ".") {
			below := use
			below.Host, below.FQDN = above, strings.TrimPrefix(use.FQDN, label)
			answer, entry = in.Scope.Answer(e.Capability, below)
		}
	}
	return answer, entry
}

// undeclared judges a contact that neither a list nor a name in the declaration covers.
func (c contacts) undeclared(e profile.Effect) contact {
	stance, clause := c.in.Scope.Network(e.Capability)
	if stance != scope.Denied && c.in.asks(e) || !c.in.Scope.Speaks() { // no silence of who was never heard
		return contact{}
	}
	if found := c.in.resolver(e, stance, clause); found.rule != "" {
		return found
	}
	if c.in.reportsUse(e) {
		return c.in.telemetry(e, stance, clause)
	}
	if stance == scope.Declared {
		return c.declared(e)
	}
	moment := c.moment(e)
	if stance != scope.Denied && c.expected(e, moment) {
		return contact{}
	}
	severity := report.SeverityMedium
	switch {
	case stance == scope.Denied && !resolving(e):
		severity = report.SeverityHigh
	case stance != scope.Denied && moment == idUndeclaredEgress && len(c.served[ownerOf(egressUse(e).Host)]) >= leastServed:
		return contact{rule: moment, severity: report.SeverityInfo, why: "of the service that others of the server name and use; " + against(stance, clause, e.Capability)}
	}
	return contact{rule: moment, severity: severity, why: against(stance, clause, e.Capability)}
}

// leastServed is how many others must name and use a service for it to count as the server's own.
const leastServed = 3

// expected reports whether an undeclared contact is a check for updates at start-up, or goes to a host that the
// description of the capability names: "Lists Airtable bases.", "Searches OpenStreetMap."
func (c contacts) expected(e profile.Effect, moment string) bool {
	host := destinationHost(e)
	switch {
	case moment == idStartupEgress && c.in.Versions[host], moment == idUndeclaredEgress && c.in.leftOver(e):
		return true
	case egressUse(e).Host == "":
		return false
	}
	return c.in.Scope.Covering(e.Capability).Names(host) ||
		moment == idUndeclaredEgress && (c.in.calledAfter(host) || c.in.Scope.Own(e.Capability).Coins(ownerOf(host)) || c.in.ofAccount(e))
}

// ofAccount reports whether a capability about an account asks the service that others name and use: whoami ("Says
// whose token is used.") beside list_issues ("Lists issues of a GitHub repository.").
func (in Input) ofAccount(e profile.Effect) bool {
	return in.itsService(e) && speaks(in.Scope.Own(e.Capability), lexicon().AccountTopics)
}

// leftOver reports whether an effect may belong to another, unanswered call of a capability that declares use of the
// network.
func (in Input) leftOver(e profile.Effect) bool {
	stance, _ := in.Scope.Network(e.AlternativeCause)
	return e.AlternativeCause.Kind != "" && e.AlternativeCause.Kind != report.CapabilityServer && stance == scope.Declared
}

// asks reports whether an argument led there. If arguments are unknown, any marker of the
// audit may have been one.
func (in Input) asks(e profile.Effect) bool {
	_, ok := in.Explains(e)
	return ok || in.Arguments == nil && askedFor(e)
}

// exceeded judges a contact that an operator's list lacks. Being led there by the audit is
// less severe than going there unasked.
func exceeded(list scope.Clause, led bool) contact {
	if led {
		return contact{rule: idUndeclaredEgress, severity: report.SeverityMedium, object: followed, exceeded: true,
			why: "where an argument or a variable of the audit led it; by the declared scope it " + list.Means}
	}
	return contact{rule: idUndeclaredEgress, severity: report.SeverityHigh, why: "by the declared scope it " + list.Means, exceeded: true}
}

// moment returns the rule for the time of an undeclared contact. What has gone on since
// before any call does not belong to the call in which it occurs.
func (c contacts) moment(e profile.Effect) string {
	goesOn := e.AlternativeCause.Kind == report.CapabilityServer && c.early[destinationHost(e)]
	switch {
	case goesOn, e.Capability.Kind == report.CapabilityServer && begins(e):
		return idStartupEgress
	case ends(e):
		return idIdleEgress
	}
	return idUndeclaredEgress
}

// declared judges contacts of who declares use of the network. Any destination will do,
// with two exceptions: of a capability that connects to hosts of its arguments and
// elsewhere, and of a server that, when idle, connects to a host it never connected to
// in a call.
func (c contacts) declared(e profile.Effect) contact {
	in := c.in
	address, err := netip.ParseAddr(e.Address)
	nameless := e.Host == "" && (err != nil || sinkhole.Fake.Contains(address) || resolving(e) || slices.Contains(in.Resolvers, address))
	switch {
	case nameless, toMetadata(e) && speaks(in.Scope.Covering(e.Capability), lexicon().CloudTopics), registry(destinationHost(e)), in.ofBrowser(e), in.speaksOf(destinationHost(e)), in.named[e.Capability][destinationHost(e)]:
		return contact{}
	case c.follow[e.Capability] && e.Phase == report.PhaseCall && e.AlternativeCause == (report.Capability{}):
		return contact{rule: idOtherHost, severity: report.SeverityMedium,
			why: "besides the host that its arguments name; nothing in its declaration speaks of this one"}
	case ends(e) && !c.busy[destinationHost(e)]:
		return contact{rule: idIdleEgress, severity: report.SeverityLow,
			why: "where it went in no call, and of which nothing in its declaration speaks"}
	}
	return contact{}
}

// speaksOf reports whether the manifest names a host's owner: "jina" of r.jina.ai. The
// labels before that do not count, for the owner chooses them: the manifest of every server
// that fetches has "fetch" of fetch.evil.test.
func (in Input) speaksOf(host string) bool {
	owner := ownerOf(host)
	return owner != "" && in.Scope.Covering(report.Capability{Kind: report.CapabilityServer}).Mentions(owner)
}

// calledAfter reports whether the server's name or its instructions have the name of a host's owner:
// "yahoo" of mcp-yahoo-finance.
func (in Input) calledAfter(host string) bool {
	owner := ownerOf(host)
	return owner != "" && !lexicon().GenericWords[owner] && in.Scope.Own(report.Capability{Kind: report.CapabilityServer}).Mentions(owner)
}

// ownerOf returns the registered label of a host name ("bbc" of www.bbc.co.uk); "" if that is too short
// to be a name.
func ownerOf(host string) string {
	labels := strings.Split(host, ".")
	own := len(labels) - 2
	if own > 0 && len(labels[own+1]) == 2 && slices.Contains([]string{"ac", "co", "com", "edu", "gov", "net", "or", "org"}, labels[own]) {
		own--
	}
	if own > 0 && labels[own] == "example" {
		own-- // RFC 2606, 3: nobody can register it, and whoever writes it means the name before it
	}
	if own < 0 || len(labels[own]) <= 3 {
		return ""
	}
	return labels[own]
}

// ofLauncher reports registry look-ups of launchers such as npx and uvx.
func (c contacts) ofLauncher(e profile.Effect) bool {
	return e.Capability.Kind == report.CapabilityServer && begins(e) && under(destinationHost(e), c.absent)
}

// registry reports whether packages are loaded from a host.
func registry(host string) bool {
	return under(host, sinkhole.RegistriesOf([]string{"npm", "pip"}).Absent)
}

// under reports whether a host is one of some domains, or below one.
func under(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) })
}

// ofBrowser reports connections that a declared browser makes by itself: it looks for
// components, and whether there is a network.
func (in Input) ofBrowser(e profile.Effect) bool {
	return under(destinationHost(e), lexicon().BrowserHosts) && in.Scope.Covering(report.Capability{Kind: report.CapabilityServer}).Mentions(
		"browser", "browsers", "chrome", "chromium", "firefox", "webkit", "playwright", "puppeteer", "devtools", "selenium")
}

// findContacts finds what a rule is about.
func findContacts(rule string) func(Input) []draft {
	return func(in Input) []draft {
		c := in.contacts()
		drafts := each(in, func(e profile.Effect, d *draft) bool {
			found := c.of(e)
			if found.rule != rule {
				return false
			}
			d.severity, d.object, d.exceeded = found.severity, cmp.Or(found.object, destination(e)), found.exceeded
			separator := "; "
			if strings.HasPrefix(found.why, "where ") || strings.HasPrefix(found.why, "besides ") {
				separator = ", "
			}
			d.message = sentence("%s %s%s%s", subject(e), action(e)+in.foreignResolver(e), separator, found.why)
			return true
		}, profile.KindConnect)
		return unexplained(drafts)
	}
}
