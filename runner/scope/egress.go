package scope

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var (
	errEgress = errors.New("it is a host, an address or a CIDR block, with or without a port")
	errListen = errors.New(`it is a port ("8080"), or an address with one ("127.0.0.1:8080")`)
	errPort   = errors.New("its port is from 1 to 65535")
)

// parseEgress reads "host", "address" or "block", with ":port" behind it or not;
// an IPv6 address with a port is in brackets (RFC 3986, 3.2.2).
func parseEgress(entry string, d Given) (matcher, error) {
	to, port, err := cutPort(entry)
	if err != nil {
		return nil, err
	}
	if block, ok := parseBlock(to); ok {
		return func(u Use) bool {
			address, err := netip.ParseAddr(u.Address)
			return err == nil && block.Contains(address.WithZone("").Unmap()) && (port == 0 || port == u.Port)
		}, nil
	}
	if to == "*" {
		return func(u Use) bool { return port == 0 || port == u.Port || u.looksUp() && d.asks(u) }, nil
	}
	if err := checkHost(to); err != nil {
		return nil, err
	}
	return hostEntry{strings.ToLower(to), port, d}.allows, nil
}

// hostEntry is an entry that names a host, with a port or 0.
type hostEntry struct {
	glob  string
	port  int
	given Given
}

func (h hostEntry) allows(u Use) bool {
	if u.Port == places.PortDNS && u.Host == "" {
		return h.given.asks(u) // the beginning of a query
	}
	if !h.names(u) {
		return false
	}
	if u.looksUp() {
		return h.given.asks(u)
	}
	if !h.given.vouchesFor(u) {
		return false
	}
	return h.port == 0 || h.port == u.Port
}

// names reports whether the entry covers the host, with or without a search domain. A wildcard for a
// search domain does not cover the internet names that a resolver tries in it.
func (h hostEntry) names(u Use) bool {
	host, _ := profile.CanonicalHost(u.Host, nil)
	return matchHost(h.glob, host) ||
		u.FQDN != "" && matchHost(h.glob, u.FQDN) && (!strings.Contains(h.glob, "*") || profile.Local(host, u.FQDN))
}

// looksUp reports whether the use is a DNS query.
func (u Use) looksUp() bool { return u.Port == places.PortDNS && u.Host != "" }

// asks reports whether a use goes to a name server of the machine. Where these are not known, any counts.
func (d Given) asks(u Use) bool {
	address, err := netip.ParseAddr(u.Address)
	if err != nil {
		return u.Address == ""
	}
	address = address.WithZone("").Unmap()
	return len(d.Resolvers) == 0 || address.IsLoopback() || slices.Contains(d.Resolvers, address)
}

// vouchesFor reports whether the address of a use can belong to its name.
func (d Given) vouchesFor(u Use) bool {
	address, err := netip.ParseAddr(u.Address)
	return d.Gave == nil || err == nil && d.Gave(cmp.Or(u.Named, u.Host), address.WithZone("").Unmap())
}

// cutPort splits an entry into destination and port; 0 for none.
func cutPort(entry string) (to string, port int, err error) {
	digits, inBrackets := "", false
	if rest, ok := strings.CutPrefix(entry, "["); ok {
		inBrackets = true
		to, digits, ok = strings.Cut(rest, "]")
		if !ok || digits != "" && digits[0] != ':' {
			return "", 0, errEgress
		}
		digits = strings.TrimPrefix(digits, ":")
		if digits == "" && strings.HasSuffix(entry, ":") {
			return "", 0, errPort
		}
	} else if i := strings.LastIndexByte(entry, ':'); i >= 0 && strings.Count(entry, ":") == 1 {
		to, digits = entry[:i], entry[i+1:]
		if digits == "" {
			return "", 0, errPort
		}
	} else {
		to = entry
	}
	if _, ok := parseBlock(to); inBrackets && !ok {
		return "", 0, errEgress
	}
	if digits == "" {
		return to, 0, nil
	}
	if strings.HasPrefix(digits, "//") {
		return "", 0, errEgress // a URL
	}
	port, err = parsePort(digits)
	return to, port, err
}

func parsePort(digits string) (int, error) {
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 || digits[0] == '0' || digits[0] == '+' {
		return 0, errPort
	}
	return int(port), nil
}

// parseBlock reads a CIDR block (RFC 4632), or an address as the block of itself.
func parseBlock(text string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), true
	}
	block, err := netip.ParsePrefix(text)
	return block.Masked(), err == nil
}

// The longest name and label (RFC 1035, 2.3.4).
const (
	maxHost  = 253
	maxLabel = 63
)

// checkHost validates a host, in which "*" stands for a part of one label, or at the beginning for one
// label or more.
func checkHost(host string) error {
	labels := strings.Split(host, ".")
	if len(host) > maxHost {
		return errEgress
	}
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || strings.ContainsFunc(label, notInHost) || strings.Contains(label, "**") {
			if strings.ContainsFunc(label, func(r rune) bool { return r >= 0x80 }) {
				return errors.New("write the name as it is looked up (xn--...)")
			}
			return errEgress
		}
	}
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		return errEgress // an incomplete address: "10.0.0"
	}
	return nil
}

func notInHost(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '*'
}

// matchHost matches a lower-case name. "*." at the beginning is any name below;
// elsewhere "*" is any part of one label.
func matchHost(glob, name string) bool {
	if below, ok := strings.CutPrefix(glob, "*."); ok {
		extra := strings.Count(name, ".") - strings.Count(below, ".")
		if extra < 1 {
			return false // the name itself is not below it
		}
		for range extra {
			_, name, _ = strings.Cut(name, ".")
		}
		glob = below
	}
	return slices.EqualFunc(strings.Split(glob, "."), strings.Split(name, "."), matchName)
}

// matchName matches one label or name, in which "*" is any part. It is linear in
// the product of the lengths: what follows a star is looked for once.
func matchName(glob, name string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// parseListen reads "port" or "address:port".
func parseListen(entry string, _ Given) (matcher, error) {
	if strings.Trim(entry, "0123456789") == "" {
		port, err := parsePort(entry)
		return func(u Use) bool { return u.Port == port }, err
	}
	at, err := netip.ParseAddrPort(entry)
	if err != nil || at.Port() == 0 || at.Addr().Zone() != "" {
		return nil, errListen
	}
	address := at.Addr().Unmap()
	return func(u Use) bool {
		on, err := netip.ParseAddr(u.Address)
		return err == nil && on.WithZone("").Unmap() == address && u.Port == int(at.Port())
	}, nil
}
