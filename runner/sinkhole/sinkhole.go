// Package sinkhole is the network of a server under audit. Nothing leaves it, and
// everything that is sent is seen. It has three layers, each of use without the
// next:
//
//	Close     every interface but the loopback goes down, and every address
//	          of the world becomes one of the network namespace itself: no
//	          packet can leave. Where nothing listens a connection is refused,
//	          a datagram comes back.
//	Redirect  connections and datagrams to any port go to the ports of a Server.
//	Serve     answers them: every name resolves, HTTP gets plausible answers,
//	          TLS is ended with certificates of an Authority that the server's
//	          programs are told to trust (Environment), clients that wait to be
//	          greeted are. What they send comes out as Captures.
//
// A system call still names the address that was meant, and so does a Capture.
//
// Who calls it: Close and Redirect need NET_ADMIN, once: the init container of an
// audit Pod has it, and the outer stage of the command line's sandbox. The Server
// needs no capability: it is in the runner of the Pod, and in that same stage.
package sinkhole

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Probes are addresses that no interface has: documentation prefixes (RFC 5737,
// RFC 3849), looked up to see whether the namespace is closed.
var (
	probeIPv4 = net.IPv4(203, 0, 113, 1)
	probeIPv6 = net.ParseIP("2001:db8::1")
)

// family is a version of IP: its networks in package net, the prefix of all its addresses,
// and an address to probe.
type family struct {
	name, tcp, udp string
	all            net.IPNet
	probe          net.IP
	// optional: "unreachable" is closed enough. Not so for IPv4, where a lookup
	// fails in a namespace that merely has no route yet.
	optional bool
}

// Close takes all interfaces of the calling thread's network namespace down but
// the loopback, makes every address local, and then verifies by a route lookup
// that it is. It fails closed: after an error the caller must not start the
// server. Closing a closed namespace is no error.
//
// The routes alone are not enough: a narrower route, such as that of a Pod's own
// subnet, comes before them while the tables "local" and "main" are one (until
// there is a rule of one's own, ip-rule(8)), and a socket that is bound to an
// interface (socket(7), SO_BINDTODEVICE) takes none that leads to another.
func Close() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring the loopback interface up (needs NET_ADMIN): %w", err)
	}
	if err := takeDown(); err != nil {
		return err
	}
	var refused []error
	for _, f := range families() {
		refused = append(refused, localise(lo, f))
	}
	// What counts is where packets go: a Pod may have IPv6 sockets and no route
	// to take them anywhere, and then the route is refused and not missed.
	if err := Verify(); err != nil {
		return errors.Join(append([]error{err}, refused...)...)
	}
	return nil
}

// takeDown takes all interfaces down but the loopback. Who has no NET_ADMIN cannot bring them up again.
func takeDown() error {
	links, err := netlink.LinkList()
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return fmt.Errorf("list the interfaces: %w", err)
	}
	for _, link := range links {
		is := link.Attrs()
		if is.Flags&net.FlagLoopback != 0 || is.Flags&net.FlagUp == 0 {
			continue
		}
		if err := netlink.LinkSetDown(link); err != nil {
			return fmt.Errorf("take the interface %s down (needs NET_ADMIN): %w", is.Name, err)
		}
	}
	return nil
}

// Separate has the kernel look at the table "local" before "main", for an interface that was added to a closed namespace
// and leads nowhere: the tables are one until there is a rule, and stay apart when it is gone. Routes by a gateway have to
// be added before. A kernel without rules is left as it is.
func Separate() {
	rule := netlink.NewRule()
	rule.Priority, rule.Table, rule.Family = 32765, unix.RT_TABLE_MAIN, netlink.FAMILY_V4
	if netlink.RuleAdd(rule) == nil {
		_ = netlink.RuleDel(rule) // it says what the next one says
	}
}

// Verify reports an error unless a lookup of an outside address says that it is
// local or leads nowhere, for each version of IP that the kernel has.
func Verify() error {
	for _, f := range families() {
		routes, err := netlink.RouteGet(f.probe)
		if errors.Is(err, unix.ENETUNREACH) && f.optional {
			continue
		}
		if err != nil {
			return fmt.Errorf("look up the %s route of %s: %w", f.name, f.probe, err)
		}
		if len(routes) == 0 {
			return fmt.Errorf("look up the %s route of %s: no answer", f.name, f.probe)
		}
		for _, r := range routes {
			if r.Type != unix.RTN_LOCAL {
				return fmt.Errorf("the network is open: the %s route of %s is of type %d, not local", f.name, f.probe, r.Type)
			}
		}
	}
	return nil
}

// localise adds the route "local <everything> dev lo". It stands in the table
// "local", which is searched before all others: a default route in the table
// "main" never gets its turn.
func localise(lo netlink.Link, f family) error {
	route := &netlink.Route{
		LinkIndex: lo.Attrs().Index,
		Dst:       &f.all,
		Table:     unix.RT_TABLE_LOCAL,
		Type:      unix.RTN_LOCAL,
		Scope:     netlink.SCOPE_HOST,
	}
	if err := netlink.RouteReplace(route); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make every %s address local (needs NET_ADMIN): %w", f.name, err)
	}
	return nil
}

func families() []family {
	all := []family{{
		name: "IPv4", tcp: "tcp4", udp: "udp4", probe: probeIPv4,
		all: net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
	}}
	if hasIPv6() {
		all = append(all, family{
			name: "IPv6", tcp: "tcp6", udp: "udp6", probe: probeIPv6, optional: true,
			all: net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		})
	}
	return all
}

// hasIPv6 reports whether sockets of IPv6 can be had at all.
func hasIPv6() bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, unix.EAFNOSUPPORT)
	}
	_ = unix.Close(fd) // nothing was written to it
	return true
}
