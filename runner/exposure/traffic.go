package exposure

import (
	"encoding/json"
	"net/netip"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// contact notes a connection to a host, or the look-up of its name.
func (b *builder) contact(e profile.Effect) {
	host := leadsTo(e)
	if host == "" {
		return
	}
	seen := sighting{reach: report.ReachFixed, bound: host, evidence: e.Evidence()}
	alone := e
	alone.AlternativeCause = report.Capability{}
	if a, ok := b.Explains(alone); ok {
		seen.reach, seen.argument, seen.bound = report.ReachArbitrary, a.Field, ""
	} else if unsure(e) || loopback(e.Address) {
		return
	}
	b.note(e.Capability, report.ExposesNetworkEgress, seen)
}

// leadsTo returns the host or address of a connection; "" for a local socket, and for a
// connection to a name server that has not asked for a name.
func leadsTo(e profile.Effect) string {
	if e.Protocol == "unix" || e.Protocol == "netlink" || e.Address == "" || e.Port == places.PortDNS && e.Host == "" {
		return ""
	}
	if e.Host != "" {
		return e.Host
	}
	return e.Address
}

func loopback(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// statement matches the beginning of an SQL statement other than those that open a session.
var statement = lazyregexp.New(`(?i)\b(?:select\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s|create\s|alter\s|drop\s|explain\s)`)

// sent notes what was sent over a connection.
func (b *builder) sent(s Sent) {
	if s.Capability.Kind == report.CapabilityServer {
		return
	}
	switch s.Protocol {
	case "postgres", "mysql":
		if statement.MatchString(s.Data) {
			b.said(s, report.ExposesDatabaseQuery, s.Data, statement.MatchString)
		}
	case "smtp":
		b.said(s, report.ExposesMessaging, recipients(s.Request+"\n"+s.Data), func(string) bool { return true })
	case "http", "https":
		if messengers.MatchString(s.Host) && !strings.HasPrefix(s.Request, "GET ") {
			b.said(s, report.ExposesMessaging, s.Request+"\n"+s.Data, func(string) bool { return false })
		}
		if a, ok := b.within(s, s.Request); ok {
			b.note(s.Capability, report.ExposesNetworkEgress, sighting{report.ReachPartial, a, s.Host, s.Evidence})
		}
	}
}

// recipients returns the addresses that a mail goes to.
func recipients(conversation string) string {
	return strings.Join(recipient.FindAllString(conversation, maxRecipients), "\n")
}

var recipient = lazyregexp.New(`(?i)RCPT TO:\s*<[^>\r\n]{1,320}>`)

const maxRecipients = 64

// messengers matches hosts that serve only, or mostly, to bring texts to people.
var messengers = lazyregexp.New(`(?i)(?:^|\.)(?:hooks\.slack\.com|slack\.com|discord(?:app)?\.com|api\.telegram\.org|api\.twilio\.com|api\.sendgrid\.com|` +
	`api\.mailgun\.net|api\.postmarkapp\.com|api\.resend\.com|api\.pushover\.net|ntfy\.sh|webhook\.office\.com|api\.line\.me)$`)

// said notes a text that was sent, with how much of it an argument decides: all if whole
// accepts the value, else a part.
func (b *builder) said(s Sent, kind report.ExposureKind, text string, whole func(value string) bool) {
	seen := sighting{reach: report.ReachFixed, bound: s.Host, evidence: s.Evidence}
	text = spaced(text)
	for _, a := range b.arguments(s.Capability) {
		value := spaced(a.Value)
		switch {
		case !distinctive(value) || !strings.Contains(text, value):
		case whole(value):
			seen.reach, seen.argument, seen.bound = report.ReachArbitrary, a.Field, ""
		case seen.reach == report.ReachFixed:
			seen.reach, seen.argument = report.ReachPartial, a.Field
		}
	}
	b.note(s.Capability, kind, seen)
}

// within returns the argument whose value contains a mark of the audit and is in a text.
func (b *builder) within(s Sent, text string) (field string, ok bool) {
	for _, a := range b.arguments(s.Capability) {
		if _, marked := inputs.Marked(a.Value); marked && strings.Contains(text, a.Value) {
			return a.Field, true
		}
	}
	return "", false
}

// secrets notes the planted secrets that leaked in answers, or over the network to another
// destination than their own service.
func (b *builder) secrets() {
	for _, l := range b.Leaks {
		if l.Capability.Kind == report.CapabilityServer || l.Home || l.Channel != leak.Answer && !l.Channel.Network() {
			continue
		}
		seen := sighting{reach: report.ReachFixed, bound: l.Decoy.Name, evidence: l.Evidence()}
		if l.Decoy.Variable {
			seen.bound = "$" + l.Decoy.Name
		}
		for _, a := range b.arguments(l.Capability) {
			if reach, _ := b.names(a, l.Decoy.Name); reach != "" && !l.Decoy.Variable {
				seen.reach, seen.argument = report.ReachPartial, a.Field
			}
		}
		b.note(l.Capability, report.ExposesSecrets, seen)
	}
}

// content notes the answers that quote another machine's answer: an argument decides as much
// of the content as of the connection.
func (b *builder) content() {
	for _, o := range b.Outputs {
		egress, ok := b.has(o.Capability, report.ExposesNetworkEgress)
		if !ok || o.Kind != report.OutputResult || !sinkhole.Quoted(o.Text) {
			continue
		}
		seen := sighting{reach: egress.reach, bound: strings.Join(egress.bounds, ", "), argument: strings.Join(egress.arguments, ", "),
			evidence: report.Evidence{Time: report.At(b.End), Attribution: report.AttributionPhase, Detail: o.Method + " " + o.Arguments + ": " + o.Text}}
		b.note(o.Capability, report.ExposesUntrustedContent, seen)
	}
}

// argumentOf returns the name of a call's only argument; "" if there are several.
func argumentOf(arguments string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &all) != nil || len(all) != 1 {
		return ""
	}
	for name := range all {
		return name
	}
	return ""
}
