package audit

import (
	"bytes"
	"net/netip"
	"os"
)

// resolvers are the name servers of this machine; the server has the same: that
// of the Pod, or of whoever runs the command.
func resolvers() []netip.Addr {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return nil // not known
	}
	return nameservers(text)
}

// nameservers reads a resolv.conf(5).
func nameservers(text []byte) []netip.Addr {
	var all []netip.Addr
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 || string(fields[0]) != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(string(fields[1])); err == nil {
			all = append(all, address.WithZone("").Unmap())
		}
	}
	return all
}
