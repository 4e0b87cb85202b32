package leak

import (
	"bytes"
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The bounds of what is known of sockets and flows, by number.
const (
	maxSockets = 4096
	maxTurns   = 64
	maxFlows   = 32768
)

// socket is the server's end of a connection: what the trace and the sinkhole
// both know of it. It is zero where the trace does not say.
type socket struct {
	protocol string
	local    netip.AddrPort
	// remote tells the connections apart that use one port after another; zero
	// for what is no TCP, where one socket has many.
	remote netip.AddrPort
}

func newSocket(protocol string, local, remote netip.AddrPort) socket {
	if protocol != "tcp" {
		remote = netip.AddrPort{}
	}
	return socket{protocol, local, remote}
}

// sockets has those that something was sent on.
type sockets map[socket]*conversation

// conversation holds what was sent on one socket, when.
type conversation struct {
	remote netip.AddrPort // the other end
	// sent is the number of bytes; turns are the offsets from which on the moment
	// is another.
	sent  int64
	turns []turn
}

type turn struct {
	offset int64
	sighting
}

// add takes in a send; nil where there are too many sockets to know this one.
func (all sockets) add(s socket, e trace.Event, gives sighting) {
	c := all[s]
	if c == nil || c.remote != e.Socket.Remote {
		if c == nil && len(all) >= maxSockets {
			return
		}
		c = &conversation{remote: e.Socket.Remote}
		all[s] = c
	}
	if n := len(c.turns); n == 0 || n < maxTurns && c.turns[n-1].at != gives.at {
		c.turns = append(c.turns, turn{c.sent, gives})
	}
	c.sent += e.Size
}

// atOffset is the moment in which the byte atOffset an offset was sent.
func (c *conversation) atOffset(offset int64) sighting {
	return c.last(func(t turn) bool { return t.offset <= offset })
}

// atTime is the moment in which that was sent which the sinkhole had atTime a time: how
// many bytes encryption adds, and where, it does not know.
func (c *conversation) atTime(time time.Time) sighting {
	return c.last(func(t turn) bool { return !t.time.After(time) })
}

// last is the last turn that is right, or the first of all.
func (c *conversation) last(right func(turn) bool) sighting {
	for i := len(c.turns) - 1; i > 0; i-- {
		if right(c.turns[i]) {
			return c.turns[i].sighting
		}
	}
	return c.turns[0].sighting
}

// send takes in bytes that went to a socket.
func (c *Collector) send(e trace.Event) {
	if e.Socket == nil || e.Errno != "" {
		return
	}
	if e.Socket.Protocol == "unix" {
		s := seen(e, UnixSocket, e.Socket.Path)
		if !c.whole(s, e.From) {
			c.sent.write(key{kind: UnixSocket, name: e.Socket.Path, pid: e.PID}, e.Data, e.Cut, s)
		}
		return
	}
	s := seen(e, Channel(strings.ToUpper(e.Socket.Protocol)), destination(e.Socket.Host, e.Socket.Remote))
	k := key{kind: s.channel, name: s.destination}
	if e.Socket.Local.Port() != 0 {
		s.from = newSocket(e.Socket.Protocol, e.Socket.Local, e.Socket.Remote)
		k.from = s.from
		c.sockets.add(s.from, e, s)
	} else {
		k.pid = e.PID // the tracer does not tell the sockets of one process apart
	}
	c.datagrams.sent(e)
	e.Data = c.tunnel(e, s)
	if s.channel == "TCP" && request(e.Data) {
		s.channel = "HTTP"
	}
	if !c.whole(s, e.From) {
		c.sent.write(k, e.Data, e.Cut, s)
	}
}

// tunnel takes in the names that a send asks for, and leaves what else there is in
// it.
func (c *Collector) tunnel(e trace.Event, s sighting) []byte {
	behind, names := question(e)
	for _, name := range names {
		c.sent.names(name, s)
	}
	if len(names) > 0 && s.channel == "UDP" {
		return behind
	}
	return e.Data
}

// datagrams weigh what was sent against what the sinkhole received, in bytes. The
// trace has no more than the beginning of each, and not all that is none of TCP is
// UDP: of UDP-Lite or ICMP nothing comes to the sinkhole.
type datagrams struct {
	all, received int64
	cut           bool
}

func (d *datagrams) sent(e trace.Event) {
	remote := e.Socket.Remote.Addr()
	if e.Socket.Protocol == "tcp" || remote.IsLoopback() || e.Socket.Remote.Port() == places.PortDNS && !e.Cut {
		return
	}
	d.all += e.Size
	d.cut = d.cut || e.Cut
}

// caught is called by another goroutine than sent.
func (d *datagrams) caught(part sinkhole.Capture) {
	if part.Protocol == "udp" {
		d.received += part.Size - part.Offset
	}
}

// missed reports whether the end of one was not searched.
func (d *datagrams) missed() bool { return d.cut && d.received < d.all }

// destination names an end point by its name, if it has one.
func destination(host string, at netip.AddrPort) string {
	if !at.IsValid() {
		return host
	}
	if host == "" || at.Port() == places.PortDNS {
		return at.String()
	}
	return strings.ToLower(host) + ":" + strconv.Itoa(int(at.Port()))
}

// request reports whether data begin as an HTTP request does (RFC 9112, 3).
func request(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\r\n"))
	return bytes.Contains(line, []byte(" HTTP/1."))
}

// names takes in a name that was looked up. A secret may stand in one label, be
// cut into several, or into several names below one domain, with labels before or
// behind that count: whichever labels are joined, it shows in one of the streams.
func (s *streams) names(name string, gives sighting) {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	domain := strings.ToLower(strings.Join(labels[max(0, len(labels)-2):], "."))
	gives.channel, gives.destination, gives.from, gives.flow = DNS, domain, socket{}, 0
	// What is found twice is shown as it was found first: here it says least.
	defer s.once(key{kind: DNS, name: domain, pid: wholeName}, strings.Join(labels, ""), gives)
	labels = labels[:max(0, len(labels)-2)]
	if len(labels) == 0 {
		return
	}
	longest, long := labels[0], ""
	for _, label := range labels {
		if len(label) >= longLabel {
			long += label
		}
		if len(label) > len(longest) {
			longest = label
		}
	}
	defer s.once(key{kind: DNS, pid: anyDomain}, longest, gives)
	for way, text := range []string{long, longest, labels[0], strings.Join(labels, "")} {
		if text != "" {
			s.once(key{kind: DNS, name: domain, pid: way}, text, gives)
		}
	}
}

// The streams of names besides those of the labels of one domain: the domain
// included, and what is looked up below whichever domain.
const (
	wholeName = -1 - iota
	anyDomain
)

// question returns the names that a send looks up, at any port (tunnels choose their own), and
// the bytes after the questions of a datagram.
func question(e trace.Event) (behind []byte, names []string) {
	if e.Errno == "" {
		behind, names = asks(e.Data, e.Socket.Protocol == "tcp")
	}
	if len(names) == 0 && e.Socket.Remote.Port() == places.PortDNS && e.Socket.Host != "" {
		names = []string{e.Socket.Host}
	}
	return behind, names
}

// asks are the names in a message to a name server, and what follows them.
func asks(data []byte, stream bool) (behind []byte, names []string) {
	if stream && len(data) > 2 {
		data = data[2:] // the length (RFC 1035, 4.2.2)
	}
	const most, head, fixed = 16, 12, 4
	var p dnsmessage.Parser
	if h, err := p.Start(data); err == nil && !h.Response {
		at := head
		for len(names) < most {
			q, err := p.Question()
			if err != nil {
				break
			}
			for at < len(data) && data[at] > 0 && data[at] < 64 {
				at += 1 + int(data[at])
			}
			at += 1 + fixed
			names = append(names, strings.Map(printable, q.Name.String()))
		}
		behind = data[min(at, len(data)):]
	}
	return behind, names
}

// printable is a character of a name as a terminal may show it.
func printable(r rune) rune {
	if r <= ' ' || r > '~' {
		return '?'
	}
	return r
}

// longLabel is the length of labels that do not count or name something, in bytes.
const longLabel = 16

type flows map[uint64]*flow

// flow holds what the sinkhole knows of one connection.
type flow struct {
	from        socket
	destination netip.AddrPort
	// named is the name that the address was handed out for.
	named, host, protocol, request string
}

// add takes in a part of a flow. Where there are too many, what a secret is found
// in says less of itself.
func (all flows) add(part sinkhole.Capture) {
	f := all[part.Flow]
	if f == nil {
		if len(all) >= maxFlows {
			return
		}
		transport := "tcp"
		if part.Protocol == "udp" {
			transport = "udp"
		}
		f = &flow{from: newSocket(transport, part.Source, part.Destination), destination: part.Destination, named: strings.ToLower(part.Named)}
		all[part.Flow] = f
	}
	f.host, f.protocol = cmp.Or(part.Host, f.host), part.Protocol
	f.request = cmp.Or(f.request, part.Request)
}

// channel is the protocol that was spoken.
func (f *flow) channel() Channel { return Channel(strings.ToUpper(f.protocol)) }

// encrypted reports whether the server sent more than the sinkhole shows.
func encrypted(protocol string) bool {
	return protocol == "https" || protocol == "tls" || protocol == "dot"
}
