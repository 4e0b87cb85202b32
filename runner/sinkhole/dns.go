package sinkhole

import (
	"encoding/binary"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/publicsuffix"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// timeToLive of answers, in seconds.
const timeToLive = 60

// question holds what a message to a name server asks.
type question struct {
	id uint16
	dnsmessage.Question
	recursion bool
}

// parseQuestion reads the first question of a message. Most name servers answer
// no message with more than one.
func parseQuestion(message []byte) (question, bool) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil || header.Response {
		return question{}, false
	}
	q, err := p.Question()
	if err != nil {
		return question{}, false
	}
	return question{id: header.ID, Question: q, recursion: header.RecursionDesired}, true
}

// host is the name that is asked for, without its last dot.
func (q question) host() string { return strings.TrimSuffix(q.Name.String(), ".") }

// request says the question in one line: "A www.example.com".
func (q question) request() string {
	kind := strings.TrimPrefix(q.Type.String(), "Type")
	return line(kind+" "+q.host(), maxRequest)
}

// resolver answers questions.
type resolver struct {
	names *names
	// self is the machine's own name, in lower case.
	self string
	// absent are domains that do not exist, nor anything in them.
	absent []string
}

// answer packs the answer to a question: an address for every name, no error and
// no records for what need not exist (AAAA, MX, TXT, SRV, ...).
func (r resolver) answer(q question) []byte {
	code := r.code(q)
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{
		ID: q.id, Response: true, RecursionDesired: q.recursion, RecursionAvailable: true, RCode: code,
	})
	b.EnableCompression()
	records := func() error {
		if err := b.StartQuestions(); err != nil {
			return err
		}
		if err := b.Question(q.Question); err != nil {
			return err
		}
		if err := b.StartAnswers(); err != nil || code != dnsmessage.RCodeSuccess {
			return err
		}
		return r.records(&b, q)
	}
	if records() != nil {
		return nil // a name that can be read but not written
	}
	message, err := b.Finish()
	if err != nil {
		return nil
	}
	return message
}

// code returns what the answer says of the name: every name exists, except those that
// are only tried, those that the resolver was told, and an unlikely one the first time.
func (r resolver) code(q question) dnsmessage.RCode {
	host := strings.ToLower(q.host())
	within := func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }
	switch {
	case slices.ContainsFunc(r.absent, within), searched(host):
		return dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypePTR && r.pointed(host) == "":
		return dnsmessage.RCodeNameError
	case unlikely(host) && r.names.unregistered(host, q.Type == dnsmessage.TypeA):
		return dnsmessage.RCodeNameError
	default:
		return dnsmessage.RCodeSuccess
	}
}

// searched reports whether a name is another one with a search domain of a cluster
// behind it: in a Pod every name is tried so first (resolv.conf(5), "ndots"), and
// must not be found so. What can be a service is taken for one.
func searched(host string) bool {
	name, inCluster := strings.CutSuffix(host, ".cluster.local")
	if !inCluster {
		return false
	}
	service, ok := strings.CutSuffix(name, ".svc")
	label, namespace, _ := strings.Cut(service, ".")
	if !ok || label == "" || namespace == "" || strings.Contains(namespace, ".") {
		return true
	}
	_, public := publicsuffix.PublicSuffix(namespace)
	return public // example.com, tried in the domain of the services
}

func (r resolver) records(b *dnsmessage.Builder, q question) error {
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: timeToLive}
	if q.Class != dnsmessage.ClassINET {
		return nil
	}
	only6, lookups, inside := inputs.IsInside(strings.ToLower(q.host()))
	switch q.Type {
	case dnsmessage.TypeA, dnsmessage.TypeALL:
		if inside {
			return r.inside(b, q, only6, lookups)
		}
		return b.AResource(header, dnsmessage.AResource{A: r.address(q.host()).As4()})
	case dnsmessage.TypeAAAA:
		if only6 {
			header.TTL = 0
			return b.AAAAResource(header, dnsmessage.AAAAResource{AAAA: netip.IPv6Loopback().As16()})
		}
	case dnsmessage.TypePTR:
		name, err := dnsmessage.NewName(r.pointed(strings.ToLower(q.host())) + ".")
		if err != nil {
			return err
		}
		return b.PTRResource(header, dnsmessage.PTRResource{PTR: name})
	}
	return nil
}

// inside answers a look-up of a name that leads to this machine: see inputs.IsInside. Nobody
// is to keep the answer.
func (r resolver) inside(b *dnsmessage.Builder, q question, only6 bool, lookups int) error {
	address := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	switch {
	case only6:
		return nil
	case r.names.looked(strings.ToLower(q.host())) <= lookups:
		address = r.address(q.host())
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
	return b.AResource(header, dnsmessage.AResource{A: address.As4()})
}

// address returns the address of a name; loopback for what names the machine itself (RFC
// 6761, 6.3).
func (r resolver) address(host string) netip.Addr {
	lower := strings.ToLower(host)
	if lower == "localhost" || strings.HasSuffix(lower, ".localhost") || lower == r.self {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return r.names.address(lower)
}

// pointed is the name of the address that a reverse name is of
// ("4.3.2.1.in-addr.arpa"); "" where there is none.
func (r resolver) pointed(reverse string) string {
	digits, ok := strings.CutSuffix(reverse, ".in-addr.arpa")
	parts := strings.Split(digits, ".")
	if !ok || len(parts) != 4 {
		return ""
	}
	var address [4]byte
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return ""
		}
		address[3-i] = byte(n)
	}
	return r.names.name(netip.AddrFrom4(address))
}

// dns answers questions over TCP, or TLS: each has two bytes of length in front
// (RFC 1035, 4.2.2).
func (t *conversation) dns() {
	in := &tapped{Conn: t.conn, flow: t.flow}
	protocol := "dns"
	if t.secure {
		protocol = "dot"
	}
	header := make([]byte, 2)
	for {
		t.wait(patience)
		if _, err := io.ReadFull(in, header); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint16(header))
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		answer := t.flow.question(message, protocol)
		t.flow.part()
		if answer == nil || !t.say(string(binary.BigEndian.AppendUint16(nil, uint16(len(answer))))+string(answer)) {
			return
		}
	}
}
