package audit

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// maxDestinations bounds each set of destinations, of some 100 bytes each.
const maxDestinations = 1 << 16

// destination is where something was sent. Port 0 stands for any: the sinkhole does not know each one.
type destination struct {
	datagram bool
	at       netip.AddrPort
}

func (d destination) String() string {
	protocol := "TCP"
	if d.datagram {
		protocol = "UDP"
	}
	if d.at.Port() == 0 {
		return fmt.Sprintf("%s %s", protocol, d.at.Addr())
	}
	return fmt.Sprintf("%s %s", protocol, d.at)
}

// destinations is a bounded set. The zero value is empty.
type destinations struct {
	all map[destination]bool
	// full: there was no room for one.
	full bool
}

func (s *destinations) put(datagram bool, a netip.Addr, port uint16) {
	d := destination{datagram, netip.AddrPortFrom(a.Unmap().WithZone(""), port)}
	switch {
	case s.all[d]:
	case len(s.all) >= maxDestinations:
		s.full = true
	case s.all == nil:
		s.all = map[destination]bool{d: true}
	default:
		s.all[d] = true
	}
}

// event adds where a call sends to, with and without the port. The unspecified address is one of the machine itself (ip(7)).
func (s *destinations) event(e trace.Event) {
	if e.Op != trace.OpConnect && e.Op != trace.OpSend || e.Socket == nil || !e.Socket.Remote.IsValid() {
		return
	}
	to := []netip.Addr{e.Socket.Remote.Addr()}
	if to[0].IsUnspecified() {
		to = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	for _, a := range to {
		s.put(e.Socket.Protocol != "tcp", a, e.Socket.Remote.Port())
		s.put(e.Socket.Protocol != "tcp", a, 0)
	}
}

// capture adds where the sinkhole received something. What stays on the machine does not count, unless a name server may
// pass it on: the probe connects to the server there, too.
func (s *destinations) capture(c sinkhole.Capture) {
	to := c.Destination
	if to.Addr().IsLoopback() && to.Port() != places.PortDNS {
		return
	}
	s.put(c.Datagram, to.Addr(), to.Port())
}

// unmatched names a destination at which something arrived and to which the trace shows nothing sent; "" if there is none.
// Another thread may have changed the address after the tracer read it, or the kernel wrote a result over it. If a set is
// full, it says that the two cannot be compared.
func unmatched(arrived, shown destinations) string {
	missing := slices.DeleteFunc(slices.Collect(maps.Keys(arrived.all)), func(d destination) bool { return shown.all[d] })
	switch {
	case arrived.full, len(missing) > 0 && shown.full:
		return "the server sent to more destinations than can be compared with the trace"
	case len(missing) == 0:
		return ""
	}
	texts := make([]string, len(missing))
	for i, d := range missing {
		texts[i] = d.String()
	}
	return fmt.Sprintf("something was sent to %s, which the trace does not show", slices.Min(texts))
}
