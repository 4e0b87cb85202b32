package sinkhole

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// control applies f to the descriptor of a socket.
func control(conn syscall.Conn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// maxDatagram is the most that UDP carries, in bytes.
const maxDatagram = 65535

// datagrams serves one socket, one datagram at a time. The kernel drops what comes too
// fast; the trace still shows it.
func (s *Server) datagrams(conn *net.UDPConn) {
	defer s.running.Done()
	data, oob := make([]byte, maxDatagram), make([]byte, 128)
	for {
		n, oobn, _, from, err := conn.ReadMsgUDPAddrPort(data, oob)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			continue // an answer that nobody waited for
		}
		at := netip.AddrPortFrom(arrivedAt(oob[:oobn]), 0)
		source := netip.AddrPortFrom(from.Addr().Unmap().WithZone(""), from.Port())
		port := unmapped(conn.LocalAddr()).Port()
		if port == sinkPort {
			s.sink(data[:n], source, at)
			continue
		}
		if answer := s.question(data[:n], source, netip.AddrPortFrom(at.Addr(), places.PortDNS)); answer != nil {
			_, _, _ = conn.WriteMsgUDPAddrPort(answer, replyFrom(at.Addr()), from) // the client may be gone
		}
	}
}

// sink records a datagram of an unknown protocol.
func (s *Server) sink(data []byte, from, to netip.AddrPort) {
	f := s.newFlow(from, to, "udp")
	_, _ = f.Write(data)
	f.end()
}

// question records a DNS message and returns its answer; nil if it is no query.
func (s *Server) question(data []byte, from, to netip.AddrPort) []byte {
	f := s.newFlow(from, to, "dns")
	_, _ = f.Write(data)
	answer := f.question(data, "dns")
	f.end()
	return answer
}

// question answers a DNS message and describes the flow by it.
func (f *flow) question(data []byte, protocol string) []byte {
	q, ok := parseQuestion(data)
	if !ok {
		return nil
	}
	f.describe(protocol, q.host(), q.request())
	return f.server.resolver.answer(q)
}

// arrivedAt returns the address that a datagram was sent to (ip(7), IP_PKTINFO;
// ipv6(7), IPV6_PKTINFO).
func arrivedAt(oob []byte) netip.Addr {
	controls, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return netip.Addr{}
	}
	for _, c := range controls {
		switch {
		case c.Header.Level == unix.IPPROTO_IP && c.Header.Type == unix.IP_PKTINFO && len(c.Data) >= unix.SizeofInet4Pktinfo:
			return netip.AddrFrom4([4]byte(c.Data[8:12])) // struct in_pktinfo, ipi_addr
		case c.Header.Level == unix.IPPROTO_IPV6 && c.Header.Type == unix.IPV6_PKTINFO && len(c.Data) >= unix.SizeofInet6Pktinfo:
			return netip.AddrFrom16([16]byte(c.Data[:16])) // struct in6_pktinfo, ipi6_addr
		}
	}
	return netip.Addr{}
}

// replyFrom returns the control message that sends an answer from an address.
func replyFrom(a netip.Addr) []byte {
	switch {
	case a.Is4():
		return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: a.As4()})
	case a.Is6():
		return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: a.As16()})
	default:
		return nil
	}
}
