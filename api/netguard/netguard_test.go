package netguard_test

import (
	"net/netip"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/netguard"
)

// TestS4Addresses and L4: every spelling of an address has the class of what it leads to.
func TestS4Addresses(t *testing.T) {
	guard := netguard.Guard{
		APIServers: []netip.Addr{netip.MustParseAddr("10.96.0.1"), netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8::7")},
		Private:    []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
	}
	for text, want := range map[string]netguard.Class{
		"93.184.216.34":             netguard.Public,
		"2606:2800:220:1::1":        netguard.Public,
		"64:ff9b::93.184.216.34":    netguard.Public, // DNS64 in a cluster with IPv6 only
		"172.15.255.255":            netguard.Public,
		"172.32.0.0":                netguard.Public,
		"10.0.0.1":                  netguard.Private,
		"172.16.0.1":                netguard.Private,
		"192.168.1.1":               netguard.Private,
		"100.64.0.1":                netguard.Private,
		"240.0.0.1":                 netguard.Private,
		"fd12:3456::1":              netguard.Private,
		"fec0::1":                   netguard.Private,
		"::ffff:10.0.0.1":           netguard.Private,
		"64:ff9b::10.0.0.1":         netguard.Private,
		"::10.0.0.1":                netguard.Private,
		"198.51.100.9":              netguard.Private, // configured
		"::ffff:198.51.100.9":       netguard.Private,
		"127.0.0.1":                 netguard.Loopback,
		"127.9.9.9":                 netguard.Loopback,
		"::1":                       netguard.Loopback,
		"::ffff:127.0.0.1":          netguard.Loopback,
		"64:ff9b::127.0.0.1":        netguard.Loopback,
		"::127.0.0.1":               netguard.Loopback,
		"0.0.0.0":                   netguard.Forbidden,
		"0.1.2.3":                   netguard.Forbidden,
		"::":                        netguard.Forbidden,
		"::ffff:0.0.0.0":            netguard.Forbidden,
		"169.254.169.254":           netguard.Forbidden,
		"169.254.170.2":             netguard.Forbidden,
		"::ffff:169.254.169.254":    netguard.Forbidden,
		"::169.254.169.254":         netguard.Forbidden,
		"64:ff9b::169.254.169.254":  netguard.Forbidden,
		"64:ff9b::a9fe:a9fe":        netguard.Forbidden,
		"64:ff9b:1::a9fe:a9fe":      netguard.Forbidden,
		"64:ff9b:1:a9fe:a9:fe00::":  netguard.Forbidden,
		"2002:a9fe:a9fe::1":         netguard.Forbidden,
		"2002:5db8:d822::1":         netguard.Forbidden,
		"2001:0:4136:e378:8000::1":  netguard.Forbidden,
		"fe80::1%eth0":              netguard.Forbidden,
		"fe80::a9fe:a9fe":           netguard.Forbidden,
		"::ffff:0:a9fe:a9fe":        netguard.Forbidden, // R11
		"fd00:ec2::254":             netguard.Forbidden,
		"fd00:ec2::23":              netguard.Forbidden,
		"fd20:ce::254":              netguard.Forbidden,
		"fd00:c1::a9fe:a9fe":        netguard.Forbidden,
		"fd00:42::42":               netguard.Forbidden,
		"100.100.100.200":           netguard.Forbidden,
		"168.63.129.16":             netguard.Forbidden,
		"192.0.0.192":               netguard.Forbidden,
		"224.0.0.1":                 netguard.Forbidden,
		"ff02::1":                   netguard.Forbidden,
		"255.255.255.255":           netguard.Forbidden,
		"10.96.0.1":                 netguard.Forbidden, // the API server's Service
		"::ffff:10.96.0.1":          netguard.Forbidden,
		"64:ff9b::10.96.0.1":        netguard.Forbidden,
		"203.0.113.7":               netguard.Forbidden, // its endpoints
		"64:ff9b::203.0.113.7":      netguard.Forbidden,
		"2001:db8::7":               netguard.Forbidden,
		"2001:db8::8":               netguard.Public,
		"::ffff:100.100.100.200":    netguard.Forbidden,
		"64:ff9b::100.100.100.200":  netguard.Forbidden,
		"::ffff:168.63.129.16":      netguard.Forbidden,
		"64:ff9b::192.0.0.192":      netguard.Forbidden,
		"64:ff9b::255.255.255.255":  netguard.Forbidden,
		"::ffff:93.184.216.34":      netguard.Public,
		"64:ff9b:2::93.184.216.34":  netguard.Public, // outside of both NAT64 prefixes
		"100.100.100.199":           netguard.Private,
		"2003::1":                   netguard.Public,
		"fbff:ffff:ffff:ffff::ffff": netguard.Public,
	} {
		got, what := guard.Classify(netip.MustParseAddr(text))
		if got != want || (got == netguard.Public) != (what == "") {
			t.Errorf("Classify(%s) = %d %q, want %d", text, got, what, want)
		}
	}
}
