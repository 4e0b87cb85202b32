package sinkhole

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// fallbackPorts are listened on where nothing redirects: ports of protocols that carry
// data away. Ports that servers commonly listen on (3000, 8000, 8080, ...) are left to
// them.
var fallbackPorts = []int{21, 22, 25, 53, 80, 110, 143, 443, 465, 587, 853, 993, 995, 1883, 2525, 4444, 6667, 8443, 9418}

// lookTimeout bounds the look whether connections are redirected.
const lookTimeout = 2 * time.Second

// listen opens all sockets and serves them.
func (s *Server) listen() error {
	for _, f := range families() {
		if err := errors.Join(s.listenTCP(f.tcp, sinkPort), s.listenUDP(f.udp, sinkPort), s.listenUDP(f.udp, dnsPort)); err != nil {
			return err
		}
	}
	if !redirected(s.listeners[0]) {
		s.fallBack()
	}
	for _, l := range s.listeners {
		s.running.Add(1)
		go s.accept(l)
	}
	for _, p := range s.packets {
		s.running.Add(1)
		go s.datagrams(p)
	}
	return nil
}

// fallBack listens on the ports themselves, as far as they are free.
func (s *Server) fallBack() {
	var refused error
	for _, f := range families() {
		for _, port := range fallbackPorts {
			refused = cmp.Or(refused, s.listenTCP(f.tcp, port))
		}
		refused = cmp.Or(refused, s.listenUDP(f.udp, places.PortDNS))
	}
	note := "connections are not redirected (the kernel has no nf_tables with NAT): only those to some common ports were answered, the others refused"
	if refused != nil {
		note += fmt.Sprintf(" (%v)", refused)
	}
	s.notes = append(s.notes, note)
}

func (s *Server) listenTCP(network string, port int) error {
	l, err := net.ListenTCP(network, &net.TCPAddr{Port: port})
	if err != nil {
		return err
	}
	s.listeners = append(s.listeners, l)
	return nil
}

func (s *Server) listenUDP(network string, port int) error {
	conn, err := net.ListenUDP(network, &net.UDPAddr{Port: port})
	if err != nil {
		return err
	}
	s.packets = append(s.packets, conn)
	return control(conn, func(fd int) error {
		if network == "udp4" {
			return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		}
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	})
}

// redirected reports whether a connection to a port without a listener arrives at l. It
// must be called before anybody else can connect.
func redirected(l *net.TCPListener) bool {
	const discard = "9" // RFC 863
	ours, err := net.DialTimeout("tcp4", net.JoinHostPort(probeIPv4.String(), discard), lookTimeout)
	if err != nil {
		return false
	}
	defer func() { _ = ours.Close() }() // nothing was written to it
	if l.SetDeadline(time.Now().Add(lookTimeout)) != nil {
		return false
	}
	theirs, err := l.Accept()
	if err != nil {
		return false
	}
	_ = theirs.Close() // as above
	return l.SetDeadline(time.Time{}) == nil && theirs.RemoteAddr().String() == ours.LocalAddr().String()
}

// originalDestination returns the destination before redirection (SO_ORIGINAL_DST of
// linux/netfilter_ipv4.h, IP6T_SO_ORIGINAL_DST), else the local address.
func originalDestination(conn *net.TCPConn) netip.AddrPort {
	local := unmapped(conn.LocalAddr())
	const originalDst = 80 // both constants
	at := netip.AddrPort{}
	err := control(conn, func(fd int) error {
		if local.Addr().Is4() {
			m, err := unix.GetsockoptIPv6Mreq(fd, unix.SOL_IP, originalDst) // has room for a sockaddr_in
			if err == nil {
				a := m.Multiaddr
				at = netip.AddrPortFrom(netip.AddrFrom4([4]byte(a[4:8])), binary.BigEndian.Uint16(a[2:4]))
			}
			return err
		}
		m, err := unix.GetsockoptIPv6MTUInfo(fd, unix.SOL_IPV6, originalDst) // begins with a sockaddr_in6
		if err == nil {
			at = netip.AddrPortFrom(netip.AddrFrom16(m.Addr.Addr), networkOrder(m.Addr.Port))
		}
		return err
	})
	if err != nil || !at.IsValid() {
		return unredirected(local)
	}
	return at
}

// unredirected returns the destination of a connection whose original one the kernel does not say: that of its socket. The
// port of a Server is none that a client chose: MPTCP has no SO_ORIGINAL_DST.
func unredirected(local netip.AddrPort) netip.AddrPort {
	if local.Port() == sinkPort {
		return netip.AddrPortFrom(local.Addr(), 0)
	}
	return local
}

// networkOrder reads a number that the kernel wrote in network byte order.
func networkOrder(n uint16) uint16 {
	return binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, n))
}
