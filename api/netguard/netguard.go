// Package netguard classifies the addresses that our programs may be made to connect to by
// people without network access of their own: the registries that the manager asks, and the
// servers that the runner of a URL talks to. It does no I/O; callers pass the address that a
// socket is about to connect to, after name resolution, so no name server can show one address
// and lead to another.
package netguard

import "net/netip"

// Class says who may connect to an address.
type Class int

// The classes, from the least to the most restricted.
const (
	// Public addresses have no special meaning.
	Public Class = iota
	// Private addresses belong to the networks around the cluster: Pods, Services,
	// nodes, and what lies behind them.
	Private
	// Loopback addresses are the connecting Pod itself.
	Loopback
	// Forbidden addresses are never connected to, whatever is configured.
	Forbidden
)

// special lists the networks that are not public. The first match counts. Sources: the IANA
// special-purpose address registries (RFC 6890) and the clouds' documentation.
var special = []struct {
	netip.Prefix
	class Class
	what  string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), Forbidden, "the Pod itself"},
	{netip.MustParsePrefix("::/128"), Forbidden, "the Pod itself"},
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback, "the Pod itself"},
	{netip.MustParsePrefix("::1/128"), Loopback, "the Pod itself"},
	{netip.MustParsePrefix("169.254.0.0/16"), Forbidden, "link-local, where clouds keep credentials"},
	{netip.MustParsePrefix("fe80::/10"), Forbidden, "link-local"},
	{netip.MustParsePrefix("100.100.100.200/32"), Forbidden, "a cloud's metadata service"}, // Alibaba
	{netip.MustParsePrefix("168.63.129.16/32"), Forbidden, "a cloud's metadata service"},   // Azure
	{netip.MustParsePrefix("192.0.0.192/32"), Forbidden, "a cloud's metadata service"},     // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), Forbidden, "a cloud's metadata service"},      // AWS
	{netip.MustParsePrefix("fd20:ce::/32"), Forbidden, "a cloud's metadata service"},       // Google
	{netip.MustParsePrefix("fd00:c1::/32"), Forbidden, "a cloud's metadata service"},       // Oracle
	{netip.MustParsePrefix("fd00:42::/32"), Forbidden, "a cloud's metadata service"},       // Scaleway
	{netip.MustParsePrefix("224.0.0.0/4"), Forbidden, "multicast"},
	{netip.MustParsePrefix("ff00::/8"), Forbidden, "multicast"},
	{netip.MustParsePrefix("255.255.255.255/32"), Forbidden, "broadcast"},
	// Addresses that lead to an unknown IPv4 address.
	{netip.MustParsePrefix("64:ff9b:1::/48"), Forbidden, "a local NAT64 address"},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), Forbidden, "an IPv4-translated address"},
	{netip.MustParsePrefix("2002::/16"), Forbidden, "a 6to4 address"},
	{netip.MustParsePrefix("2001::/32"), Forbidden, "a Teredo address"},
	{netip.MustParsePrefix("10.0.0.0/8"), Private, "a private address"},
	{netip.MustParsePrefix("172.16.0.0/12"), Private, "a private address"},
	{netip.MustParsePrefix("192.168.0.0/16"), Private, "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), Private, "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), Private, "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), Private, "a private address"},
	{netip.MustParsePrefix("240.0.0.0/4"), Private, "a private address"},
	{netip.MustParsePrefix("fc00::/7"), Private, "a private address"},
	{netip.MustParsePrefix("fec0::/10"), Private, "a private address"},
}

// nat64 is the well-known prefix of RFC 6052, compatible the form of RFC 4291 2.5.5.1: both
// lead to the IPv4 address in their last four bytes.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
)

// Guard classifies addresses. The zero value knows universally special ones.
type Guard struct {
	// APIServers are the API server's addresses: its Service's and its endpoints'.
	APIServers []netip.Addr
	// Private are further networks to treat as private, such as public ranges that a cluster
	// uses for Pods and Services.
	Private []netip.Prefix
}

// Classify returns the class of an address and, unless it is Public, a noun phrase for it.
func (g Guard) Classify(addr netip.Addr) (Class, string) {
	addr = effective(addr)
	for _, api := range g.APIServers {
		if effective(api) == addr {
			return Forbidden, "the API server"
		}
	}
	for _, s := range special {
		if s.Contains(addr) {
			return s.class, s.what
		}
	}
	for _, prefix := range g.Private {
		if prefix.Contains(addr) {
			return Private, "an address of the cluster"
		}
	}
	return Public, ""
}

// effective returns the IPv4 address that an IPv6 address leads to, or the address itself.
func effective(addr netip.Addr) netip.Addr {
	addr = addr.WithZone("").Unmap()
	bytes := addr.As16()
	embeds := compatible.Contains(addr) && addr != netip.IPv6Unspecified() && addr != netip.IPv6Loopback()
	if addr.Is6() && (embeds || nat64.Contains(addr)) {
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return addr
}
