package trace

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// nameService reports whether a port is for looking up names: DNS, multicast DNS
// (RFC 6762), or LLMNR (RFC 4795).
func nameService(port uint16) bool { return port == places.PortDNS || port == 5353 || port == 5355 }

// framer cuts one direction of a TCP connection to a name server into messages,
// which begin with their length (RFC 1035 section 4.2.2). It holds at most one
// message of 64 KiB and the bytes of one call.
type framer struct {
	buffer []byte
	broken bool // bytes are missing
}

// add returns the messages that data completes, valid until the next call. cut:
// data lacks some bytes.
func (f *framer) add(data []byte, cut bool) [][]byte {
	if f.broken {
		return nil
	}
	var all [][]byte
	f.buffer = append(f.buffer, data...)
	for len(f.buffer) >= 2 {
		end := 2 + int(binary.BigEndian.Uint16(f.buffer))
		if len(f.buffer) < end {
			break
		}
		all = append(all, f.buffer[2:end])
		f.buffer = f.buffer[end:]
	}
	if cut {
		if len(f.buffer) > 2 {
			all = append(all, f.buffer[2:])
		}
		f.broken, f.buffer = true, nil
	}
	return all
}

// datagrams returns the messages to or from a name server that m completes.
func (d *decoder) datagrams(c *call, decor []byte, e endpoint, m message) [][]byte {
	if e.Protocol != "tcp" {
		return [][]byte{m.data}
	}
	if c.failed() {
		return new(framer).add(m.data, m.cut)
	}
	key := c.direction() + e.Remote.String() + identity(decor)
	f, ok := d.framers.get(key)
	if !ok {
		f = &framer{}
		d.framers.put(key, f)
	}
	data := m.within(m.size)
	return f.add(data, m.size > int64(len(data)))
}

// direction returns ">" for calls that send and "<" for calls that receive.
func (c *call) direction() string {
	if c.stores() {
		return ">"
	}
	return "<"
}

// queried returns the names that a message to a name server asks for: usually
// one, but a tunnel may use more.
func queried(data []byte) []string {
	const most = 16
	var p dnsmessage.Parser
	if _, err := p.Start(data); err != nil {
		return nil
	}
	var names []string
	for len(names) < most {
		q, err := p.Question()
		if err != nil {
			break
		}
		names = append(names, hostName(q.Name))
	}
	return names
}

// hostName returns a name without its final dot and without control characters
// for a terminal.
func hostName(n dnsmessage.Name) string {
	printable := func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}
	return strings.TrimSuffix(strings.Map(printable, n.String()), ".")
}

// answer is an address that a name server gave for a name.
type answer struct{ address, name string }

// answers returns the addresses in a message from a name server, with the name
// that was asked for (not its last alias).
func answers(data []byte) []answer {
	const most = 64
	var p dnsmessage.Parser
	if h, err := p.Start(data); err != nil || !h.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil || p.SkipAllQuestions() != nil {
		return nil
	}
	var all []answer
	for len(all) < most {
		h, err := p.AnswerHeader()
		if err != nil {
			break
		}
		switch h.Type {
		case dnsmessage.TypeA:
			r, err := p.AResource()
			if err != nil {
				return all
			}
			all = append(all, answer{netip.AddrFrom4(r.A).String(), hostName(q.Name)})
		case dnsmessage.TypeAAAA:
			r, err := p.AAAAResource()
			if err != nil {
				return all
			}
			all = append(all, answer{netip.AddrFrom16(r.AAAA).Unmap().String(), hostName(q.Name)})
		default:
			if p.SkipAnswer() != nil {
				return all
			}
		}
	}
	return all
}
