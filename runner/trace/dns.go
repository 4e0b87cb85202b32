package trace

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// portDNS is the port of the domain name system, RFC 1035 section 4.2.
const portDNS = 53

// queried is the name that a message to a name server asks for; "" when it is
// none. Over TCP a message has two bytes of length in front.
func queried(data []byte, tcp bool) string {
	var p dnsmessage.Parser
	if _, err := p.Start(unframed(data, tcp)); err != nil {
		return ""
	}
	q, err := p.Question()
	if err != nil {
		return ""
	}
	return hostName(q.Name)
}

func unframed(data []byte, tcp bool) []byte {
	if tcp && len(data) > 2 {
		return data[2:]
	}
	return data
}

// hostName is a name without its final dot, and without what a terminal would
// obey.
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

// answers lists the addresses in a message from a name server, under the name
// that was asked for (not the last alias of it).
func answers(data []byte, tcp bool) []answer {
	const most = 64
	var p dnsmessage.Parser
	if h, err := p.Start(unframed(data, tcp)); err != nil || !h.Response {
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
