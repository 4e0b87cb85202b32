package rules

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// lookup reports whether the effect is a DNS query.
func lookup(e profile.Effect) bool { return e.Port == places.PortDNS && e.Host != "" }

// resolving reports whether the effect is only the beginning of a look-up. Other traffic to
// that port is like any other.
func resolving(e profile.Effect) bool {
	return e.Port == places.PortDNS && e.Host == "" && e.Protocol == "udp" && e.Operation == "connect"
}

// outward reports whether an effect leaves the machine. So does a query to a stub resolver
// on the loopback; a query for a local name does if it goes to a public address, for it may
// carry anything.
func outward(e profile.Effect) bool {
	address, err := netip.ParseAddr(e.Address)
	if lookup(e) {
		name := e.Host
		here := !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".arpa") && !reverseOfOthers(name)
		return !here || err == nil && name != "localhost" && address.IsGlobalUnicast() && !address.IsPrivate()
	}
	if err == nil && address.IsUnspecified() {
		return false // connects to the machine itself
	}
	return e.Protocol != "netlink" && !e.Connection().Loopback()
}

// reverseOfOthers reports whether a name is the reverse name of a public address (RFC 1035,
// 3.5; RFC 3596, 2.5), whose holder answers the query.
func reverseOfOthers(name string) bool {
	if digits, ok := strings.CutSuffix(name, ".ip6.arpa"); ok {
		return !strings.HasSuffix(digits, ".f") && strings.Trim(digits, "0.1") != ""
	}
	labels := strings.Split(strings.TrimSuffix(name, ".in-addr.arpa"), ".")
	if !strings.HasSuffix(name, ".in-addr.arpa") || len(labels) < 4 {
		return false
	}
	slices.Reverse(labels)
	address, err := netip.ParseAddr(strings.Join(labels[:4], "."))
	return err != nil || len(labels) > 4 || address.IsGlobalUnicast() && !address.IsPrivate() && !sinkhole.OfService(address)
}

// destination returns the object of findings: the host rather than its many addresses.
func destination(e profile.Effect) string {
	switch {
	case lookup(e):
		return e.Host
	case e.Host != "":
		return e.Host + ":" + strconv.Itoa(e.Port)
	}
	return endpoint(e)
}

// endpoint returns an address with its port.
func endpoint(e profile.Effect) string {
	address, err := netip.ParseAddr(e.Address)
	switch {
	case e.Address == "":
		return "an unknown address"
	case err != nil || e.Port == 0:
		return clean(e.Address, 128)
	}
	return netip.AddrPortFrom(address, uint16(e.Port)).String()
}

// action says what was done: "tried to connect to 93.184.216.34:80 (tcp)". It is always a
// try: nothing in the sandbox leads outside, though the sinkhole answers, and the result
// of a pending connect (EINPROGRESS) is unknown.
func action(e profile.Effect) string {
	if lookup(e) {
		return fmt.Sprintf("looked up the name %s (at %s)", clean(e.Host, 256), endpoint(e))
	}
	verb, detail := "tried to connect to", e.Protocol
	if e.Protocol == "udp" || strings.HasPrefix(e.Operation, "send") {
		verb = "tried to send to"
	}
	if e.Error != "" && e.Error != "?" {
		detail += ", " + e.Error
	}
	if e.Host == "" {
		return fmt.Sprintf("%s %s (%s)", verb, endpoint(e), detail)
	}
	return fmt.Sprintf("%s %s:%d (%s, %s)", verb, clean(e.Host, 256), e.Port, endpoint(e), detail)
}

// foreignResolver says that a name was looked up at a name server that is not the
// machine's.
func (in Input) foreignResolver(e profile.Effect) string {
	address, err := netip.ParseAddr(e.Address)
	if !lookup(e) || err != nil || len(in.Resolvers) == 0 || address.IsLoopback() || slices.Contains(in.Resolvers, address) {
		return ""
	}
	return ", not at a name server of the machine"
}

// against says how the declaration covers use of the network.
func against(stance scope.Stance, clause scope.Clause, of report.Capability) string {
	switch stance {
	case scope.Denied:
		return whose(clause, of)
	case scope.Unclear:
		return whose(clause, of) + " and elsewhere it speaks of the network"
	default:
		return "nothing in its declaration speaks of the network"
	}
}

// askedFor reports whether the arguments of the audit explain an effect: the name
// that they hold is looked up, or the address that the sinkhole gave for it is
// connected to. (Elsewhere the name has no address; whoever seems to connect
// there has made one up.)
func askedFor(e profile.Effect) bool {
	address, err := netip.ParseAddr(e.Address)
	return inputs.Named(e.Host) && (lookup(e) || err == nil && sinkhole.Fake.Contains(address))
}

// unexplained drops look-ups followed by a connect of the same capability to exactly that
// name.
func unexplained(drafts []draft) []draft {
	type key struct {
		of   report.Capability
		name string
	}
	connected := map[key]bool{}
	for _, d := range drafts {
		if i := strings.LastIndexByte(d.object, ':'); i >= 0 {
			connected[key{d.capability, d.object[:i]}] = true
		}
	}
	return slices.DeleteFunc(drafts, func(d draft) bool {
		return !strings.Contains(d.object, ":") && connected[key{d.capability, d.object}]
	})
}
