package audit

import (
	"bytes"
	"net/netip"
	"os"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// resolving describes how this machine, and therefore the server, resolves names. The zero value is unknown.
type resolving struct {
	servers []netip.Addr
	// search are the search domains, in lower case.
	search []string
}

func resolvers() resolving {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return resolving{}
	}
	return nameservers(text)
}

// nameservers reads a resolv.conf(5). The last of "search" and "domain" counts.
func nameservers(text []byte) (r resolving) {
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch string(fields[0]) {
		case "nameserver":
			if address, err := netip.ParseAddr(string(fields[1])); err == nil {
				r.servers = append(r.servers, address.WithZone("").Unmap())
			}
		case "search", "domain":
			r.search = nil
			for _, domain := range fields[1:] {
				if name := strings.Trim(strings.ToLower(string(domain)), "."); name != "" {
					r.search = append(r.search, name)
				}
			}
		}
	}
	if r.search == nil {
		r.search = []string{places.HomeDomain} // the sandbox adds it
	}
	return r
}
