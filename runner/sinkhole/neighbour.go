package sinkhole

import (
	"net"
	"net/netip"
	"slices"
)

// maxNeighbours bounds the services of the machine that are stood in for, by number.
const maxNeighbours = 16

// neighbours answers connections to addresses on the loopback from now on, as if services of
// the machine had them. One that somebody listens on already stays theirs.
func (s *Server) neighbours(all []netip.AddrPort) {
	s.opening.Lock()
	defer s.opening.Unlock()
	for _, at := range all {
		if s.ending || !at.Addr().IsLoopback() || slices.Contains(s.missed, at) || len(s.missed) >= maxNeighbours {
			continue
		}
		s.missed = append(s.missed, at)
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
		if err != nil {
			continue
		}
		s.listeners = append(s.listeners, l)
		s.running.Add(1)
		go s.accept(l)
	}
}

// stoodInFor reports whether an address on the loopback is answered like any other.
func (s *Server) stoodInFor(at netip.AddrPort) bool {
	s.opening.Lock()
	defer s.opening.Unlock()
	return slices.Contains(s.missed, at)
}
