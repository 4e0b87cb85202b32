package sinkhole

import (
	"net"
	"net/netip"
	"slices"
)

// maxNeighbours bounds the number of simulated local services.
const maxNeighbours = 16

// neighbours starts to answer connections to loopback addresses as if local services
// listened there, unless somebody does already.
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

// stoodInFor reports whether a loopback address belongs to a simulated service.
func (s *Server) stoodInFor(at netip.AddrPort) bool {
	s.opening.Lock()
	defer s.opening.Unlock()
	return slices.Contains(s.missed, at)
}
