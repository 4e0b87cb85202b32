package sinkhole

import (
	"net/netip"
	"strings"
	"time"
)

// The bounds of a Capture, in bytes.
const (
	maxData    = 16 << 10
	maxHost    = 253 // of a host name (RFC 1035, 2.3.4, as text)
	maxRequest = 512
	maxHello   = 1 << 10
)

// Capture holds the data of a datagram, or of a connection or part of one. The parts of
// a connection share Flow and come in the order of Offset.
type Capture struct {
	// Time is when the first byte of this part arrived; if there was none, when the
	// flow began.
	Time time.Time `json:"time"`
	// Flow numbers connections and datagrams from 1.
	Flow uint64 `json:"flow"`
	// Source is the server's end, as in the trace. Destination is the address the
	// server meant to reach; its port is 0 where it is unknown: for datagrams other
	// than DNS queries, and for connections of MPTCP.
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"`
	// Datagram is set for UDP. DNS uses both UDP and TCP.
	Datagram bool `json:"datagram,omitempty"`
	// Host is the name in the TLS handshake or the HTTP request, where a server can
	// lie, or else the name that the address was given to. "" if there is none.
	Host string `json:"host,omitempty"`
	// Hello has what the client offered in the TLS handshake, in its order, which is its choice: protocols, ciphers
	// and curves. "" without one.
	Hello string `json:"hello,omitempty"`
	// Named is the name that the address was given to; "" if none.
	Named string `json:"named,omitempty"`
	// Protocol is "tcp", "udp", "dns", "dot" (DNS inside of TLS), "http", "https",
	// "tls", "ldap", "smtp", "redis", "postgres", "mysql", "ftp", "imap", "pop3" or "ssh".
	Protocol string `json:"protocol"`
	// Request summarises the data for people: "POST /collect HTTP/1.1".
	Request string `json:"request,omitempty"`
	// Data was sent from Offset of the flow on, decrypted where TLS could be
	// terminated. Size counts all bytes of the flow up to the end of this part;
	// bytes beyond Offset and Data were not kept.
	Data   []byte `json:"data,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Size   int64  `json:"size"`
	// Continues is set when this part continues the request of the one before.
	Continues bool `json:"continues,omitempty"`
	// Opaque is set when the client rejected our certificate. What it meant to send
	// is unknown; Data is its handshake.
	Opaque bool `json:"opaque,omitempty"`
}

// Lost returns how many bytes of this part were not kept.
func (c Capture) Lost() int64 { return c.Size - c.Offset - int64(len(c.Data)) }

// line turns hostile text into one bounded, printable line.
func line(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	printable := func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}
	return strings.Map(printable, text)
}

// firstLine returns the first line of data.
func firstLine(data []byte) string {
	text := string(data[:min(len(data), maxRequest)])
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return line(text, maxRequest)
}
