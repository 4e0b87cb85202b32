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

// Bounds on the number of sockets and flows that are known.
const (
	maxSockets = 4096
	maxTurns   = 64
	maxFlows   = 32768
)

// socket identifies the server's end of a connection by what both the trace and
// the sinkhole know. It is zero where the trace does not know it.
type socket struct {
	protocol string
	local    netip.AddrPort
	// remote tells successive connections from one port apart; zero for other
	// protocols than TCP, where one socket has many.
	remote netip.AddrPort
}

func newSocket(protocol string, local, remote netip.AddrPort) socket {
	if protocol != "tcp" {
		remote = netip.AddrPort{}
	}
	return socket{protocol, local, remote}
}

// sockets has those on which something was sent.
type sockets map[socket]*conversation

// conversation holds what was sent on one socket, when.
type conversation struct {
	remote netip.AddrPort // the other end
	// sent is the number of bytes; turns are the offsets at which the moment
	// changes.
	sent  int64
	turns []turn
}

type turn struct {
	offset int64
	sighting
}

// add enters a send, unless there are too many sockets.
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

// atOffset returns the moment in which the byte at an offset was sent.
func (c *conversation) atOffset(offset int64) sighting {
	return c.last(func(t turn) bool { return t.offset <= offset })
}

// atTime returns the moment in which the bytes were sent that the sinkhole received at a time:
// under encryption their offset is not known.
func (c *conversation) atTime(time time.Time) sighting {
	return c.last(func(t turn) bool { return !t.time.After(time) })
}

// last returns the last turn that fits, or the first of all.
func (c *conversation) last(right func(turn) bool) sighting {
	for i := len(c.turns) - 1; i > 0; i-- {
		if right(c.turns[i]) {
			return c.turns[i].sighting
		}
	}
	return c.turns[0].sighting
}

// send searches bytes that were sent on a socket.
func (c *Collector) send(e trace.Event) {
	if e.Socket == nil || e.Failed() {
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

// tunnel searches the names that a send looks up, and returns the rest of its bytes.
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

// datagrams compares the bytes of datagrams that were sent and that the sinkhole
// received. The trace has only the beginning of each, and UDP-Lite or ICMP never
// reach the sinkhole.
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

// caught is called from another goroutine than sent.
func (d *datagrams) caught(part sinkhole.Capture) {
	if part.Protocol == "udp" {
		d.received += part.Size - part.Offset
	}
}

// missed reports whether the end of a datagram was not searched.
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

// names searches a name that was looked up. A secret may be in one label, or be cut
// into several labels or into several names below one domain, with numbered labels
// before or after it: whichever labels it is in, one of the streams joins them.
func (s *streams) names(name string, gives sighting) {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	domain := strings.ToLower(strings.Join(labels[max(0, len(labels)-2):], "."))
	gives.channel, gives.destination, gives.from, gives.flow = DNS, domain, socket{}, 0
	// A sighting shows where a secret was found first: this stream, which says least,
	// comes last.
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

// The streams of names besides those of one domain's labels: with the domain, and
// of all domains together.
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

// asks returns the names in a message to a name server, and the bytes after them.
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

// printable returns a character of a name in a form that is safe for a terminal.
func printable(r rune) rune {
	if r <= ' ' || r > '~' {
		return '?'
	}
	return r
}

// longLabel is the least length in bytes of a label that is neither a number nor a name.
const longLabel = 16

type flows map[uint64]*flow

// flow holds what the sinkhole knows of one connection.
type flow struct {
	from        socket
	destination netip.AddrPort
	// named is the name that the address was handed out for.
	named, host, protocol, request string
}

// add enters a part of a flow. If there are too many flows, the secrets of further
// ones are described by less.
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

// channel returns the protocol that was spoken.
func (f *flow) channel() Channel { return Channel(strings.ToUpper(f.protocol)) }

// encrypted reports whether the server sent more than the sinkhole shows.
func encrypted(protocol string) bool {
	return protocol == "https" || protocol == "tls" || protocol == "dot"
}
