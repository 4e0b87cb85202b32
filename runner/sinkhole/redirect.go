package sinkhole

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// The ports on which a Server waits for what is redirected: above those that the
// kernel chooses by itself (ip_local_port_range ends at 60999), and no program's.
const (
	// sinkPort takes every connection, and every datagram but those to places.PortDNS.
	sinkPort = 61713
	// dnsPort takes the datagrams to places.PortDNS.
	dnsPort = 61714
)

// portDoT is where names are looked up over TLS (RFC 7858, 3.1).
const portDoT = 853

// table is the name of our table of rules.
const table = "mcpaudit"

// Redirect makes the kernel of a closed network namespace hand every connection
// and datagram, whatever its port, to the ports of a Server. Addresses stay as
// they are, so that the Server still knows the one that was meant; a connection's
// port it gets by SO_ORIGINAL_DST.
//
// Loopback and the addresses of the namespace's own interfaces are left alone,
// but for questions to a name server: a stub of the machine's may have had one
// there. It needs NET_ADMIN, and nf_tables with NAT in the kernel (Linux 5.2);
// without it a Server is still reached, on the ports of fallbackPorts.
func Redirect() error {
	own, err := ownAddresses()
	if err != nil {
		return err
	}
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("reach nf_tables: %w", err)
	}
	t := &nftables.Table{Name: table, Family: nftables.TableFamilyINet}
	c.AddTable(t)
	c.DelTable(t) // that of an earlier call, which AddTable leaves as it is
	c.AddTable(t)
	chain := c.AddChain(&nftables.Chain{
		Name: "output", Table: t, Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityNATDest,
	})
	for _, rule := range redirections(own) {
		c.AddRule(&nftables.Rule{Table: t, Chain: chain, Exprs: rule})
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("redirect all ports (needs NET_ADMIN and nf_tables with NAT): %w", err)
	}
	return nil
}

// ownAddresses returns the own addresses of the namespace's interfaces.
func ownAddresses() ([]net.IP, error) {
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("list the addresses of the interfaces: %w", err)
	}
	var own []net.IP
	for _, a := range addresses {
		if !a.IP.IsLoopback() {
			own = append(own, a.IP)
		}
	}
	return own, nil
}

// redirections are the rules in order. Each is a list of conditions and what is
// done when all hold; the first that does something ends the walk.
func redirections(own []net.IP) [][]expr.Any {
	rules := [][]expr.Any{
		slices.Concat(protocol(unix.IPPROTO_UDP), port(places.PortDNS), toPort(dnsPort)),
		slices.Concat(protocol(unix.IPPROTO_TCP), port(places.PortDNS), toPort(sinkPort)),
		slices.Concat(destination(net.IPv4(127, 0, 0, 0), 1), leave()),
		slices.Concat(destination(net.IPv6loopback, net.IPv6len), leave()),
	}
	for _, ip := range own {
		length := net.IPv6len
		if ip.To4() != nil {
			length = net.IPv4len
		}
		rules = append(rules, slices.Concat(destination(ip, length), leave()))
	}
	return append(rules,
		slices.Concat(protocol(unix.IPPROTO_TCP), toPort(sinkPort)),
		slices.Concat(protocol(unix.IPPROTO_UDP), toPort(sinkPort)))
}

// equal compares register 1, which is where every condition loads.
func equal(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }

// protocol holds for packets of one transport protocol.
func protocol(number byte) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, equal([]byte{number})}
}

// port holds for packets to one port.
func port(number uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		equal(binary.BigEndian.AppendUint16(nil, number)),
	}
}

// destination holds for packets to addresses whose first bytes are those of ip.
// The offsets are those of the headers (RFC 791, RFC 8200).
func destination(ip net.IP, length int) []expr.Any {
	family, offset, address := byte(unix.NFPROTO_IPV6), uint32(24), ip.To16()
	if v4 := ip.To4(); v4 != nil {
		family, offset, address = unix.NFPROTO_IPV4, 16, v4
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equal([]byte{family}),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: uint32(length)},
		equal(address[:length]),
	}
}

// toPort changes the port and nothing else: with "redirect" the address would be
// lost to datagrams, which have no SO_ORIGINAL_DST.
func toPort(number uint16) []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: 1, Data: binary.BigEndian.AppendUint16(nil, number)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_INET, RegProtoMin: 1, Specified: true},
	}
}

func leave() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }
