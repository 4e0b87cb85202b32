package trace

import (
	"bytes"
	"net/netip"
	"strings"
)

// endpoint is what is known of a socket. Sockets are told apart by their
// decoration: strace knows the addresses of those in its own network namespace
// (and remembers them, even when they have changed since), of others only the
// inode.
type endpoint struct {
	Socket
	// datagram: every send is a connection of its own.
	datagram bool
}

// isSocket tells the decoration of a socket from that of other descriptors.
func isSocket(decor []byte) bool {
	if len(decor) == 0 || decor[0] == '/' {
		return false
	}
	kind, _, ok := bytes.Cut(decor, []byte(":["))
	return ok && len(kind) > 0 && (string(kind) == "socket" || kind[0] >= 'A' && kind[0] <= 'Z')
}

// identity is what tells a socket from others. A unix socket's decoration
// grows (UNIX-STREAM:[5], [5->6], [5->6,@"name"]), and its inode comes first.
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

// lookup joins a socket's decoration with what was seen of it before.
func (d *decoder) lookup(decor []byte) endpoint {
	known, _ := d.sockets.get(identity(decor))
	kind, inside, _ := strings.Cut(string(decor), ":[")
	inside = strings.TrimSuffix(inside, "]")
	now := kinds(kind)
	if now.Family == "" {
		now = endpoint{Socket: Socket{Family: known.Family, Protocol: known.Protocol}, datagram: known.datagram}
	}
	now.Remote, now.Local, now.Path = known.Remote, known.Local, known.Path
	if now.Family == "inet" || now.Family == "inet6" {
		local, remote, _ := strings.Cut(inside, "->")
		if a, ok := parseAddrPort(local); ok {
			now.Local = a
		}
		if a, ok := parseAddrPort(remote); ok {
			now.Remote = a
		}
	}
	return now
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
		return endpoint{Socket{Family: family, Protocol: "udp"}, true}
	case base == "RAW", base == "PING":
		return endpoint{Socket{Family: family, Protocol: strings.ToLower(base)}, true}
	case strings.HasPrefix(base, "UNIX"):
		return endpoint{Socket: Socket{Family: "unix", Protocol: "unix"}}
	case base == "socket":
		return endpoint{}
	}
	name := strings.ToLower(base)
	return endpoint{Socket{Family: name, Protocol: name}, name == "packet"}
}

// socket remembers the family of the sockets that strace has no name for.
func (d *decoder) socket(c *call) {
	if c.failed() || !bytes.HasPrefix(c.result.decor, []byte("socket:[")) {
		return
	}
	datagram := !bytes.HasPrefix(c.arg(1), []byte("SOCK_STREAM"))
	family := familyName(c.arg(0))
	protocol := family
	if family == "inet" || family == "inet6" {
		protocol = map[bool]string{true: "udp", false: "tcp"}[datagram]
	}
	d.sockets.put(string(c.result.decor), endpoint{Socket{Family: family, Protocol: protocol}, datagram})
}

func familyName(arg []byte) string {
	name, _ := bytes.CutPrefix(arg, []byte("AF_"))
	return strings.ToLower(string(name))
}

// addressed sets the address of a sockaddr structure. remote tells whether it
// is the other end's.
func (e *endpoint) addressed(sockaddr []byte, remote bool) {
	e.Family = familyName(field(sockaddr, "sa_family"))
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
		e.Remote = a
	} else {
		e.Local = a
	}
}

// inet reads sin_port=htons(80), sin_addr=inet_addr("1.2.3.4"), or for IPv6
// inet_pton(AF_INET6, "::1", &sin6_addr), which has no member name of its own.
func inet(sockaddr []byte, addrName, portName string) netip.AddrPort {
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
	e.addressed(sockaddr, true)
	if e.Family == "netlink" {
		return
	}
	if e.Family == "unspec" { // takes the address away again
		e.Remote = netip.AddrPort{}
		d.sockets.put(identity(decor), e)
		return
	}
	d.sockets.put(identity(decor), e)
	if e.datagram && (!c.failed() || e.Remote.Port() != portDNS) {
		return
	}
	d.emit(c, Event{Op: OpConnect, Socket: d.named(e)})
}

// named copies an end point for an event, with the name it was looked up by.
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
	d.sockets.put(identity(decor), e)
	d.emit(c, Event{Op: OpBind, Socket: &e.Socket})
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

// sendTo makes the events of a send: every message of a datagram socket, and
// any that carries its own address, is a connection too.
func (d *decoder) sendTo(c *call, decor []byte) {
	if c.result.errno == "EAGAIN" {
		return // it will be sent again
	}
	for _, m := range messages(c) {
		d.deliver(c, decor, m)
	}
}

func (d *decoder) deliver(c *call, decor []byte, m message) {
	e := d.lookup(decor)
	if m.address != nil {
		e.addressed(m.address, true)
	}
	if e.Family == "netlink" || e.Family == "unix" && e.Path == "" {
		return // the kernel; a socket pair, or the end that accepted
	}
	if m.blinded && c.result.value > 0 {
		d.blind(c)
	}
	if e.Remote.Port() == portDNS {
		e.Host = queried(m.data, e.Protocol == "tcp")
	}
	s := d.named(e)
	if e.datagram || m.address != nil {
		d.emit(c, Event{Op: OpConnect, Socket: s})
	}
	d.emit(c, Event{Op: OpSend, Socket: s, Data: m.data, Cut: m.cut})
}

func (d *decoder) receiveFrom(c *call, decor []byte) {
	e := d.lookup(decor)
	if e.Family != "inet" && e.Family != "inet6" {
		return
	}
	for _, m := range messages(c) {
		if m.address != nil {
			e.addressed(m.address, true)
		}
		if e.Remote.Port() == portDNS {
			for _, a := range answers(m.data, e.Protocol == "tcp") {
				d.names.put(a.address, a.name)
			}
		}
		d.emit(c, Event{Op: OpReceive, Socket: d.named(e), Data: m.data, Cut: m.cut})
	}
}
