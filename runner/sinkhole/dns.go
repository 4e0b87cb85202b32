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
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// timeToLive of answers, in seconds.
const timeToLive = 60

// question is a DNS query.
type question struct {
	id uint16
	dnsmessage.Question
	recursion bool
}

// parseQuestion reads the first question of a message. Most name servers reject messages
// with more.
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

// host returns the requested name without its last dot.
func (q question) host() string { return strings.TrimSuffix(q.Name.String(), ".") }

// request summarises the question: "A www.example.com".
func (q question) request() string {
	kind := strings.TrimPrefix(q.Type.String(), "Type")
	return line(kind+" "+q.host(), maxRequest)
}

// resolver answers questions.
type resolver struct {
	names *names
	// audit has the names of the audit.
	audit *pseudonym.Names
	// self is the machine's host name, in lower case.
	self string
	// absent are domains that do not exist, with all their subdomains.
	absent []string
}

// answer packs the answer to a question: an address for every name, no error and
// no records for types that need not exist (AAAA, MX, TXT, SRV, ...). It is nil for a
// name that can be read but not written.
func (r resolver) answer(q question) []byte {
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: q.id, Response: true, RecursionDesired: q.recursion, RecursionAvailable: true, RCode: r.code(q)},
		Questions: []dnsmessage.Question{q.Question},
	}
	if m.RCode == dnsmessage.RCodeSuccess && q.Class == dnsmessage.ClassINET {
		if record, ttl := r.record(q); record != nil {
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: ttl}, Body: record}}
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// code returns the response code: every name exists except tries of search domains, the
// configured absent domains, and an unlikely name the first time.
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

// searched reports whether a name has a search domain of the cluster appended: in a Pod
// every name is tried that way first (resolv.conf(5), "ndots") and must not be found.
// A name that can be a service's is taken for one.
func searched(host string) bool {
	if name, atHome := strings.CutSuffix(host, "."+places.HomeDomain); atHome && strings.Contains(name, ".") {
		return true
	}
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

// record returns the answer to a question and how long it may be kept; nil if there is
// none. Answers about names that lead to this machine (inputs.IsInside) must not be kept.
func (r resolver) record(q question) (record dnsmessage.ResourceBody, ttl uint32) {
	host := strings.ToLower(q.host())
	only6, lookups, inside := inputs.IsInside(r.audit.In(host))
	switch q.Type {
	case dnsmessage.TypeA, dnsmessage.TypeALL:
		switch {
		case !inside:
			return &dnsmessage.AResource{A: r.address(host).As4()}, timeToLive
		case only6:
			return nil, 0
		case r.names.looked(host) <= lookups:
			return &dnsmessage.AResource{A: r.address(host).As4()}, 0
		}
		return &dnsmessage.AResource{A: loopback.As4()}, 0
	case dnsmessage.TypeAAAA:
		if only6 {
			return &dnsmessage.AAAAResource{AAAA: netip.IPv6Loopback().As16()}, 0
		}
	case dnsmessage.TypePTR:
		if name, err := dnsmessage.NewName(r.pointed(host) + "."); err == nil {
			return &dnsmessage.PTRResource{PTR: name}, timeToLive
		}
	}
	return nil, 0
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// address returns the address of a name in lower case: loopback if it names the machine
// itself (RFC 6761, 6.3).
func (r resolver) address(host string) netip.Addr {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || host == r.self {
		return loopback
	}
	return r.names.address(host)
}

// pointed returns the host of a reverse name ("4.3.2.1.in-addr.arpa"); "" if there is
// none.
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

// dns answers questions over TCP or TLS, each prefixed by two bytes of length (RFC 1035,
// 4.2.2).
func (t *conversation) dns() {
	in := t.received()
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
