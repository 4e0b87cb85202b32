package rules

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// noTelemetry matches a promise to send none.
var noTelemetry = lazyregexp.New(`(?i)\b(?:no|without|zero|never (?:sends?|collects?)|(?:does not|doesn't|do not|don't) (?:send|collect)) ` +
	`(?:any )?(?:telemetry|analytics|tracking|usage (?:data|statistics))\b`)

// reportsUse reports whether an effect leads to a telemetry service, or to a host with that name:
// telemetry.example.com, eu-telemetry.example.com.
func (in Input) reportsUse(e profile.Effect) bool {
	host := destinationHost(e)
	return under(host, lexicon().TelemetryHosts) || slices.Contains(strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' }), "telemetry")
}

// telemetry judges a report on the use of the server.
func (in Input) telemetry(e profile.Effect, stance scope.Stance, clause scope.Clause) contact {
	found := contact{rule: idUndeclaredTelemetry, severity: report.SeverityMedium,
		why: "a service for telemetry, of which nothing in its declaration speaks"}
	promise := in.promisesNoTelemetry()
	switch {
	case stance == scope.Denied:
		found.severity, found.why = report.SeverityHigh, "a service for telemetry; "+whose(clause, e.Capability)
	case promise != "":
		found.severity, found.why = report.SeverityHigh, "a service for telemetry; the manifest says "+quoted(promise)
	case in.Scope.Covering(report.Capability{Kind: report.CapabilityServer}).Mentions(lexicon().TelemetryTopics...):
		return contact{}
	case stance == scope.Declared:
		found.severity = report.SeverityLow
	}
	return found
}

// promisesNoTelemetry returns the promise of a description or the instructions; "" for none.
func (in Input) promisesNoTelemetry() string {
	texts := []string{manifest.Text(in.Manifest.Instructions)}
	for _, tool := range manifest.Items(report.CapabilityTool, in.Manifest.Tools) {
		texts = append(texts, tool.Description)
	}
	for _, text := range texts {
		if found := noTelemetry.FindString(text[:min(len(text), maxDescription)]); found != "" {
			return found
		}
	}
	return ""
}

// resolverHosts are services for DNS over HTTPS (RFC 8484) or TLS, and
// resolverAddresses the addresses of the same services.
var (
	resolverHosts = []string{"dns.google", "dns.google.com", "cloudflare-dns.com", "one.one.one.one", "quad9.net", "doh.opendns.com",
		"dns.adguard.com", "adguard-dns.com", "dns.nextdns.io", "doh.cleanbrowsing.org", "dns.alidns.com", "doh.pub", "dns.sb", "mullvad.net"}
	resolverAddresses = []string{"1.1.1.1", "1.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9", "149.112.112.112", "208.67.222.222", "208.67.220.220",
		"2606:4700:4700::1111", "2606:4700:4700::1001", "2001:4860:4860::8888", "2001:4860:4860::8844", "2620:fe::fe"}
)

// portTLS is that of DNS over TLS (RFC 7858).
const portTLS = 853

var resolverTopics = []string{"dns", "doh", "nameserver", "nameservers", "resolver", "resolvers", "dig", "nslookup", "whois"}

// asksElsewhere reports whether a name is looked up at a name server that the machine does not use.
func (in Input) asksElsewhere(e profile.Effect) bool {
	if in.foreignResolver(e) != "" || under(destinationHost(e), resolverHosts) {
		return true
	}
	address, err := netip.ParseAddr(e.Address)
	switch {
	case err != nil:
		return false
	case e.Port == portTLS && len(in.Resolvers) > 0:
		return address.IsGlobalUnicast() && !slices.Contains(in.Resolvers, address)
	}
	return (e.Port == portHTTPS || e.Port == portTLS) && e.Host == "" && slices.Contains(resolverAddresses, e.Address)
}

const portHTTPS = 443

// resolver judges look-ups at such a name server.
func (in Input) resolver(e profile.Effect, stance scope.Stance, clause scope.Clause) contact {
	if !in.asksElsewhere(e) || in.ofBrowser(e) || in.Scope.Covering(e.Capability).Mentions(resolverTopics...) {
		return contact{}
	}
	found := contact{rule: idOwnResolver, severity: report.SeverityMedium, object: endpoint(e),
		why: "where neither the filter nor the log of the machine sees it"}
	if under(destinationHost(e), resolverHosts) {
		found.object = destinationHost(e)
	}
	if stance == scope.Denied {
		found.severity, found.why = report.SeverityHigh, whose(clause, e.Capability)
	}
	return found
}
