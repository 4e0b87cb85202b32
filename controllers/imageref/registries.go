package imageref

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Registries is the part of the configuration that lists registries at private addresses or
// without TLS that the manager may ask.
type Registries struct {
	// Internal are registries at private addresses: "host", "host:port", "*.domain", or a
	// network such as "10.20.0.0/16" for all registries in it.
	Internal []string `json:"internal"`
	// PlainHTTP are internal registries that do not speak TLS: "host" or "host:port".
	PlainHTTP []string `json:"plainHTTP"`
	// PrivateNetworks are further networks to treat as private: those of Pods, Services, nodes
	// and machines, if their addresses are public.
	PrivateNetworks []string `json:"privateNetworks"`
}

// Validate reports each invalid entry with its key.
func (r Registries) Validate() error {
	_, err := r.parse()
	return err
}

// rules are parsed Registries.
type rules struct {
	internal, plain []endpoint
	networks        []netip.Prefix // of internal
	private         []netip.Prefix
}

// endpoint is the address of a registry.
type endpoint struct {
	host, port string
	subdomains bool // of host, and not host itself
}

func (r Registries) parse() (parsed rules, err error) {
	var problems []error
	for _, text := range r.Internal {
		if network, err := netip.ParsePrefix(text); err == nil {
			parsed.networks = append(parsed.networks, network.Masked())
		} else if e, ok := parseEndpoint(text, "443"); ok {
			parsed.internal = append(parsed.internal, e)
		} else {
			problems = append(problems, fmt.Errorf("registries.internal: %q is not a host such as registry.example:5000 or *.example, nor a network such as 10.20.0.0/16", text))
		}
	}
	for _, text := range r.PlainHTTP {
		if e, ok := parseEndpoint(text, "80"); ok && !e.subdomains {
			parsed.plain = append(parsed.plain, e)
		} else {
			problems = append(problems, fmt.Errorf("registries.plainHTTP: %q is not a host such as registry.example or 10.20.0.1:5000", text))
		}
	}
	for _, text := range r.PrivateNetworks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("registries.privateNetworks: %q is not a network such as 203.0.113.0/24", text))
			continue
		}
		parsed.private = append(parsed.private, network.Masked())
	}
	return parsed, errors.Join(problems...)
}

func parseEndpoint(text, defaultPort string) (endpoint, bool) {
	e := endpoint{host: strings.ToLower(text), port: defaultPort}
	if host, port, err := net.SplitHostPort(e.host); err == nil {
		e.host, e.port = host, port
	}
	e.host, e.subdomains = strings.CutPrefix(e.host, "*.")
	_, notAddress := netip.ParseAddr(e.host)
	isName := len(validation.IsDNS1123Subdomain(e.host)) == 0
	number, err := net.LookupPort("tcp", e.port)
	return e, err == nil && number > 0 && (isName || notAddress == nil && !e.subdomains)
}

// matches compares an address, "host:port".
func (e endpoint) matches(address string) bool {
	host, port, err := net.SplitHostPort(strings.ToLower(address))
	if err != nil || port != e.port {
		return false
	}
	if e.subdomains {
		return strings.HasSuffix(host, "."+e.host)
	}
	return host == e.host
}

func listed(endpoints []endpoint, address string) bool {
	return slices.ContainsFunc(endpoints, func(e endpoint) bool { return e.matches(address) })
}

// isInternal reports whether the operator lists the "host:port".
func (r rules) isInternal(address string) bool {
	return listed(r.internal, address) || listed(r.plain, address)
}

func (r rules) isInside(address netip.Addr) bool {
	return slices.ContainsFunc(r.networks, func(n netip.Prefix) bool { return n.Contains(address) })
}
