package inputs

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Names and URL paths that the sinkhole directs to this machine, for attempts on guards against that.

// Inside returns a name with a loopback address.
func (m Mark) Inside() string { return "inside." + m.Host() }

// Inside6 returns a name with only an IPv6 loopback address.
func (m Mark) Inside6() string { return "inside6." + m.Host() }

// Rebound returns a name with a public address for some look-ups, and then a loopback address.
func (m Mark) Rebound(lookups int) string {
	return "rebound" + strconv.Itoa(lookups) + "." + m.Host()
}

var inside = lazyregexp.New(`^(?:inside(6?)|rebound([1-9]))\.c\d{1,9}\.pages\.example\.net$`)

// IsInside reports whether a lower-case host is such a name, whether it has only an address of
// IPv6, and how many look-ups have a public address first.
func IsInside(host string) (only6 bool, lookups int, ok bool) {
	found := inside.FindStringSubmatch(host)
	if found == nil {
		return false, 0, false
	}
	lookups, _ = strconv.Atoi(found[2]) // "" or one digit
	return found[1] != "", lookups, true
}

// leadPath begins the path of a URL that redirects.
const leadPath = "/" + Word + "-go/"

// LeadPath returns the path of a URL that redirects to an address.
func LeadPath(to netip.AddrPort) string { return leadPath + to.String() }

// Lead returns a name that redirects from every path to an address of IPv4, for servers that choose scheme or path
// themselves. Port 0 is the scheme's own.
func (m Mark) Lead(to netip.AddrPort) string {
	return fmt.Sprintf("go-%s-%d.%s", strings.ReplaceAll(to.Addr().String(), ".", "-"), to.Port(), m.Host())
}

var lead = lazyregexp.New(`^go-(\d+-\d+-\d+-\d+)-(\d+)\.c\d{1,9}\.pages\.example\.net$`)

// LedTo returns where a lower-case host or the path of a URL redirects to; false for any other.
func LedTo(host, path string) (netip.AddrPort, bool) {
	rest, ok := strings.CutPrefix(path, leadPath)
	if found := lead.FindStringSubmatch(host); found != nil {
		rest, ok = strings.ReplaceAll(found[1], "-", ".")+":"+found[2], true
	}
	if !ok {
		return netip.AddrPort{}, false
	}
	to, err := netip.ParseAddrPort(rest)
	return to, err == nil
}
