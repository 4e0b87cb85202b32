package trace

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// endpoint describes a socket. Sockets are identified by their
// decoration: for those in its own network namespace strace knows the addresses
// (and remembers them, even if they have changed since), for others only the
// inode.
type endpoint struct {
	Socket
	// datagram: every send is a separate connection.
	datagram bool
	// met: an event has reported this connection.
	met bool
	// accepted: the other end has made the connection.
	accepted bool
	// stated is the address of the last connect by this decoration, if Remote is another: strace remembers a
	// socket's first peer, and another socket may have had the decoration. Invalid if there is no doubt.
	stated netip.AddrPort
}

// isSocket reports whether a decoration names a socket.
func isSocket(decor []byte) bool {
	if len(decor) == 0 || decor[0] == '/' {
		return false
	}
	kind, _, ok := bytes.Cut(decor, []byte(":["))
	return ok && len(kind) > 0 && (string(kind) == "socket" || kind[0] >= 'A' && kind[0] <= 'Z')
}

// identity returns the part of a decoration that identifies a socket. A unix socket's
// grows (UNIX-STREAM:[5], [5->6], [5->6,@"name"]), but begins with its inode.
func identity(decor []byte) string {
	if !bytes.HasPrefix(decor, []byte("UNIX")) {
		return string(decor)
	}
	end := bytes.IndexByte(decor, '[') + 1
	for end < len(decor) && decor[end] >= '0' && decor[end] <= '9' {
		end++
	}
	return string(decor[:end])
}

// lookup joins a socket's decoration with what is known of it.
func (d *decoder) lookup(decor []byte) endpoint {
	known, _ := d.sockets.get(identity(decor))
	kind, inside, _ := strings.Cut(string(decor), ":[")
	inside = strings.TrimSuffix(inside, "]")
	now := kinds(kind)
	if now.Family == "" {
		now = endpoint{Socket: Socket{Family: known.Family, Protocol: known.Protocol}, datagram: known.datagram}
	}
	now.Remote, now.Local, now.Path = known.Remote, known.Local, known.Path
	now.met, now.accepted = known.met, known.accepted
	if now.Family == "inet" || now.Family == "inet6" {
		local, remote, _ := strings.Cut(inside, "->")
		if a, ok := parseAddrPort(local); ok {
			now.Local = a
		}
		if a, ok := parseAddrPort(remote); ok {
			now.Remote = a
			if known.Remote.IsValid() && known.Remote != a {
				now.stated = known.Remote
			}
		}
	}
	return now
}

// know remembers what a call says of a socket.
func (d *decoder) know(decor []byte, e endpoint) {
	if e.stated.IsValid() {
		e.Remote = e.stated
	}
	d.sockets.put(identity(decor), e)
}

func parseAddrPort(s string) (netip.AddrPort, bool) {
	a, err := netip.ParseAddrPort(s)
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), err == nil
}

// kinds translates the kernel's names of protocols (struct proto.name).
func kinds(kind string) endpoint {
	base, v6 := strings.CutSuffix(kind, "v6")
	family := "inet"
	if v6 {
		family = "inet6"
	}
	switch {
	case base == "TCP", base == "MPTCP", base == "SMC":
		return endpoint{Socket: Socket{Family: family, Protocol: "tcp"}}
	case base == "UDP", base == "UDPLITE", base == "UDP-Lite":
		return endpoint{Socket: Socket{Family: family, Protocol: "udp"}, datagram: true}
	case base == "RAW", base == "PING":
		return endpoint{Socket: Socket{Family: family, Protocol: strings.ToLower(base)}, datagram: true}
	case strings.HasPrefix(base, "UNIX"):
		return endpoint{Socket: Socket{Family: "unix", Protocol: "unix"}}
	case base == "socket":
		return endpoint{}
	}
	name := strings.ToLower(base)
	return endpoint{Socket: Socket{Family: name, Protocol: name}, datagram: name == "packet"}
}

// spying has the families of sockets that are outside this machine's network, or
// that see traffic not meant for them; and the netlink protocols that report on
// other processes.
var spying = map[string]bool{
	"packet": true, "vsock": true, "xdp": true, "key": true, "NETLINK_CONNECTOR": true, "NETLINK_AUDIT": true,
}

// socket remembers the family of sockets that strace does not name.
func (d *decoder) socket(c *call) {
	c.doubt()
	family := familyName(c.arg(0))
	e := endpoint{Socket: Socket{Family: family, Protocol: family}}
	e.datagram = !bytes.HasPrefix(c.arg(1), []byte("SOCK_STREAM"))
	switch family {
	case "inet", "inet6":
		e.Protocol = map[bool]string{true: "udp", false: "tcp"}[e.datagram]
	case "netlink":
		e.Path = string(c.arg(2))
	}
	if (spying[family] || spying[e.Path]) && !c.killed() {
		d.emit(c, Event{Op: OpEvade, Socket: &e.Socket})
	}
	if !c.failed() && bytes.HasPrefix(c.result.decor, []byte("socket:[")) {
		d.sockets.put(string(c.result.decor), e)
	}
}

func familyName(arg []byte) string {
	name, _ := bytes.CutPrefix(arg, []byte("AF_"))
	return strings.ToLower(string(name))
}

// addressed sets the address of a sockaddr structure; remote: it is the other end's.
func (e *endpoint) addressed(sockaddr []byte, remote bool) {
	switch family := familyName(field(sockaddr, "sa_family")); {
	case family != unspecified:
		e.Family = family
	case e.Family == "inet6":
		return // the kernel leaves such an address unread
	case e.Family != "inet": // for which it has that family
		e.Family = family
	}
	if e.Protocol == "" {
		e.Protocol = e.Family
	}
	var a netip.AddrPort
	switch e.Family {
	case "inet":
		a = inet(sockaddr, "sin_addr", "sin_port")
	case "inet6":
		a = inet(sockaddr, "sin6_addr", "sin6_port")
	case "unix":
		e.Protocol = "unix"
		name, _ := text(field(sockaddr, "sun_path"))
		e.Path = string(name)
		return
	case "vsock": // to the hypervisor and its other guests
		e.Path = string(field(sockaddr, "svm_cid")) + ":" + string(field(sockaddr, "svm_port"))
		return
	default:
		return
	}
	if remote {
		e.Remote, e.stated = a, netip.AddrPort{}
	} else {
		e.Local = a
	}
}

// unspecified is the family of an address that has none.
const unspecified = "unspec"

// inet reads sin_port=htons(80), sin_addr=inet_addr("1.2.3.4"), or for IPv6
// inet_pton(AF_INET6, "::1", &sin6_addr), which has no member name. An address without a
// family has its port and address in sa_data="\0P\300\0\2\1".
func inet(sockaddr []byte, addrName, portName string) netip.AddrPort {
	if raw, _ := text(field(sockaddr, "sa_data")); len(raw) >= 6 {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[2:6])), binary.BigEndian.Uint16(raw))
	}
	_, port, _ := bytes.Cut(field(sockaddr, portName), []byte("("))
	quote := field(sockaddr, addrName)
	if addrName == "sin6_addr" {
		_, quote, _ = bytes.Cut(sockaddr, []byte("inet_pton(AF_INET6, "))
	}
	if i := bytes.IndexByte(quote, '"'); i >= 0 {
		quote = quote[i:]
	}
	name, _ := text(quote)
	addr, err := netip.ParseAddr(string(name))
	number := integer(port)
	if err != nil || number < 0 || number > 65535 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(number))
}

func (d *decoder) connect(c *call) {
	_, decor := descriptor(c.arg(0))
	sockaddr := structure(c.arg(1))
	if sockaddr == nil {
		if bytes.HasPrefix(c.arg(1), []byte("0x")) {
			d.blind(c)
		}
		return
	}
	e := d.lookup(decor)
	if familyName(field(sockaddr, "sa_family")) == unspecified { // it removes the address
		e.Remote, e.stated = netip.AddrPort{}, netip.AddrPort{}
		if c.connects() {
			d.know(decor, e)
		}
		d.disconnected(e)
		return
	}
	e.addressed(sockaddr, true)
	if e.Family == "netlink" {
		return
	}
	if c.connects() {
		d.know(decor, e)
	}
	d.connected(c, decor, e)
	if !c.reportsConnect(e) {
		return
	}
	d.announce(e.Remote)
	d.asked.put(c.handleOf(decor), e.Remote)
	d.emit(c, Event{Op: OpConnect, Socket: d.named(e)})
}

// connects reports whether a connect has an effect, now or later.
func (c *call) connects() bool {
	return !c.failed() || c.unreturned() || c.result.errno == "EINPROGRESS" || c.result.errno == "EINTR" || strings.HasPrefix(c.result.errno, "ERESTART")
}

// reportsConnect reports whether a connect makes an event: that of a datagram socket sends nothing.
func (c *call) reportsConnect(e endpoint) bool {
	return !e.datagram || c.failed() && e.Remote.Port() == places.PortDNS
}

// named copies an end point for an event, with the name that it was looked up by.
func (d *decoder) named(e endpoint) *Socket {
	s := e.Socket
	if s.Host == "" && s.Remote.IsValid() {
		s.Host, _ = d.names.get(s.Remote.Addr().String())
	}
	return &s
}

func (d *decoder) bind(c *call) {
	_, decor := descriptor(c.arg(0))
	sockaddr := structure(c.arg(1))
	if sockaddr == nil {
		return
	}
	e := d.lookup(decor)
	e.addressed(sockaddr, false)
	if e.Family == "netlink" {
		return
	}
	d.know(decor, e)
	d.hold(c, decor, e)
}

func (d *decoder) listen(c *call) {
	_, decor := descriptor(c.arg(0))
	if !isSocket(decor) {
		return
	}
	e := d.lookup(decor)
	if quote := bytes.IndexByte(decor, '"'); e.Family == "unix" && e.Path == "" && quote > 0 {
		if decor[quote-1] == '@' {
			quote--
		}
		name, _ := text(decor[quote:])
		e.Path = string(name)
	}
	d.emit(c, Event{Op: OpListen, Socket: &e.Socket})
}

// accept makes the event of a connection to the server.
func (d *decoder) accept(c *call) {
	if c.failed() || !isSocket(c.result.decor) {
		return
	}
	e := d.lookup(c.result.decor)
	if peer := structure(c.arg(1)); len(peer) > 2 {
		e.addressed(peer, true)
	}
	e.met, e.accepted = true, true
	d.know(c.result.decor, e)
	d.emit(c, Event{Op: OpAccept, Socket: d.named(e)})
}
