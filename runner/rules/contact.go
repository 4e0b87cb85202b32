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

// contact says what one effect on the network is judged to be. Each is one of them,
// so that it makes one finding: that of the most specific rule.
type contact struct {
	rule     string // its id; "" for no finding
	severity report.Severity
	// why stands behind what was done, in the message.
	why string
	// object replaces the destination.
	object string
	// exceeded: an operator's list has it not.
	exceeded bool
}

// contacts judges effects of one profile.
type contacts struct {
	in Input
	// follow are the capabilities that went where an argument led.
	follow map[report.Capability]bool
	// early are the destinations of the server before any call, busy those of any part
	// of the session but the idle time and the end.
	early, busy map[string]bool
	// absent are the domains of the registries that the launcher in the command asks.
	absent []string
	// served has the capabilities that name the owner of a host and connect to it, by owner.
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
		if owner := ownerOf(egressUse(e).Host); owner != "" && !lexicon.GenericWords[owner] && in.Scope.Own(e.Capability).Mentions(owner) {
			if c.served[owner] == nil {
				c.served[owner] = map[report.Capability]bool{}
			}
			c.served[owner][e.Capability] = true
		}
	}
	return c
}

// destinationHost is a destination without its port: what is looked up and what is connected
// to are the same.
func destinationHost(e profile.Effect) string { return cmp.Or(e.Host, e.Address) }

// begins and ends tell of what belongs to no call: before the first, and after the
// last.
func begins(e profile.Effect) bool {
	return e.Phase == report.PhaseStartup || e.Phase == report.PhaseHandshake || e.Phase == report.PhaseList
}

func ends(e profile.Effect) bool {
	return e.Capability.Kind == report.CapabilityServer && !begins(e)
}

// of judges one effect: by the operator's list, then by what explains it, then by
// what it leads to, and last by what the declaration says of the network.
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

// configured reports whether the server's configuration has the host: the operator's, or what stands in its place.
func (in Input) configured(e profile.Effect) bool {
	return in.chosen.has(addressee(e)) || in.invents(e)
}

// invents reports whether the audit has made the host up for a variable that the server asked for. Nobody has set
// that against a text that denies the network.
func (in Input) invents(e profile.Effect) bool {
	stance, _ := in.Scope.Network(e.Capability)
	_, onlyHint := in.hintOnly(e.Capability)
	return in.invented.has(addressee(e)) && (stance != scope.Denied || onlyHint)
}

// addressee is the host that was contacted, or its address where the name is the server's word.
func addressee(e profile.Effect) string { return cmp.Or(egressUse(e).Host, e.Address) }

// answer asks the declared scope about a contact. Where a declaration names a host, it names those below it
// whose labels an argument gives: "eu-west" of eu-west.builds.example.com.
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

// undeclared judges what no list and no name in the declaration has.
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

// leastServed is how many others have to name and use a service before it counts as the server's own.
const leastServed = 3

// expected reports whether what nothing declares is a question for updates at start-up, or goes to a host by
// whose name a capability calls what it does: "Lists Airtable bases.", "Searches OpenStreetMap."
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

// ofAccount reports whether a capability that speaks of an account asks the service that others of the server
// name and use: whoami ("Says whose token is used.") beside list_issues ("Lists issues of a GitHub repository.").
func (in Input) ofAccount(e profile.Effect) bool {
	return in.itsService(e) && speaks(in.Scope.Own(e.Capability), lexicon.AccountTopics)
}

// leftOver reports whether an effect may as well be of another call, which had no answer yet, of who speaks of the
// network: silence is held against nobody for another's doing.
func (in Input) leftOver(e profile.Effect) bool {
	stance, _ := in.Scope.Network(e.AlternativeCause)
	return e.AlternativeCause.Kind != "" && e.AlternativeCause.Kind != report.CapabilityServer && stance == scope.Declared
}

// asks reports whether an argument led there. Where arguments are not known, any marker
// of the audit may have been one.
func (in Input) asks(e profile.Effect) bool {
	_, ok := in.Explains(e)
	return ok || in.Arguments == nil && askedFor(e)
}

// exceeded returns what an operator's list does not have. What the audit led
// to shows that the server can be led there, and is less than what it does by itself.
func exceeded(list scope.Clause, led bool) contact {
	if led {
		return contact{rule: idUndeclaredEgress, severity: report.SeverityMedium, object: followed, exceeded: true,
			why: "where an argument or a variable of the audit led it; by the declared scope it " + list.Means}
	}
	return contact{rule: idUndeclaredEgress, severity: report.SeverityHigh, why: "by the declared scope it " + list.Means, exceeded: true}
}

// moment is the rule for when something undeclared was done. What goes on since
// before any call is no doing of the call that it comes in.
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

// declared judges what is done by who speaks of the network. Where it goes is its own
// affair, with two exceptions: a capability that goes where its arguments lead and
// somewhere else as well, and a server that talks, when nobody asks it anything, to
// one that it has never talked to when it was asked.
func (c contacts) declared(e profile.Effect) contact {
	in := c.in
	address, err := netip.ParseAddr(e.Address)
	nameless := e.Host == "" && (err != nil || sinkhole.Fake.Contains(address) || resolving(e) || slices.Contains(in.Resolvers, address))
	switch {
	case nameless, toMetadata(e) && speaks(in.Scope.Covering(e.Capability), lexicon.CloudTopics), registry(destinationHost(e)), in.ofBrowser(e), in.speaksOf(destinationHost(e)), in.named[e.Capability][destinationHost(e)]:
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

// speaksOf reports whether the manifest has the name of a host's owner in it: "jina" of
// r.jina.ai. What stands before that in a host name its owner chooses: "fetch" of
// fetch.evil.test is in the manifest of every server that fetches.
func (in Input) speaksOf(host string) bool {
	owner := ownerOf(host)
	return owner != "" && in.Scope.Covering(report.Capability{Kind: report.CapabilityServer}).Mentions(owner)
}

// calledAfter reports whether the server itself, by its name or its instructions, has the name of a
// host's owner: "yahoo" of mcp-yahoo-finance.
func (in Input) calledAfter(host string) bool {
	owner := ownerOf(host)
	return owner != "" && !lexicon.GenericWords[owner] && in.Scope.Own(report.Capability{Kind: report.CapabilityServer}).Mentions(owner)
}

// ownerOf returns the label of a host name under which it was registered ("bbc" of www.bbc.co.uk); ""
// where that is too short to be a name.
func ownerOf(host string) string {
	labels := strings.Split(host, ".")
	own := len(labels) - 2
	if own > 0 && len(labels[own+1]) == 2 && slices.Contains([]string{"ac", "co", "com", "edu", "gov", "net", "or", "org"}, labels[own]) {
		own--
	}
	if own < 0 || len(labels[own]) <= 3 {
		return ""
	}
	return labels[own]
}

// ofLauncher tells of the look-ups of npx, uvx and their like for what they start.
func (c contacts) ofLauncher(e profile.Effect) bool {
	return e.Capability.Kind == report.CapabilityServer && begins(e) && under(destinationHost(e), c.absent)
}

// registry tells of the hosts that packages are loaded from.
func registry(host string) bool {
	return under(host, sinkhole.RegistriesOf([]string{"npm", "pip"}).Absent)
}

// under reports whether a host is one of some domains, or below one.
func under(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) })
}

// ofBrowser tells of what a browser does by itself, where the declaration speaks of
// one: it looks for its own components, and for whether there is a network.
func (in Input) ofBrowser(e profile.Effect) bool {
	return under(destinationHost(e), lexicon.BrowserHosts) && in.Scope.Covering(report.Capability{Kind: report.CapabilityServer}).Mentions(
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
