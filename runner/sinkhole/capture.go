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
)

// Capture holds what a connection, or a datagram, brought: a part of it where it
// brought much or spoke several times. The parts of one connection share Flow and
// come in the order of Offset; what they hold was sent in that order.
type Capture struct {
	// Time is when the first byte of this part came; of a flow that brought none,
	// when it began.
	Time time.Time `json:"time"`
	// Flow numbers connections and datagrams from 1.
	Flow uint64 `json:"flow"`
	// Source is the server's end: that of its socket in the trace. Destination is
	// what the server meant to reach; its port is 0 where that is unknown, which
	// it is for datagrams other than questions to a name server.
	Source      netip.AddrPort `json:"source"`
	Destination netip.AddrPort `json:"destination"`
	// Host is the name that the server meant: in the TLS handshake, in the HTTP
	// request, or that its address was handed out for. A server can lie in the
	// first two. "" where there is none.
	Host string `json:"host,omitempty"`
	// Named is the name that the address was handed out for, whatever the server
	// said; "" where it was not handed out.
	Named string `json:"named,omitempty"`
	// Protocol is "tcp", "udp", "dns", "dot" (DNS inside of TLS), "http", "https",
	// "tls", "smtp", "redis", "postgres", "mysql", "ftp", "imap", "pop3" or "ssh".
	Protocol string `json:"protocol"`
	// Request says it in one line for people: "POST /collect HTTP/1.1".
	Request string `json:"request,omitempty"`
	// Data was sent, without TLS where that could be ended, from Offset
	// of the flow on. Size counts all bytes of the flow up to the end of this part.
	// More than Offset and Data account for were not kept.
	Data   []byte `json:"data,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Size   int64  `json:"size"`
	// Continues: this part goes on with what the one before it began to say.
	Continues bool `json:"continues,omitempty"`
	// Opaque: the client did not go on after it saw our certificate. What it
	// meant to send is unknown; Data is its handshake.
	Opaque bool `json:"opaque,omitempty"`
}

// Lost returns how many bytes before the end of this part are not in it.
func (c Capture) Lost() int64 { return c.Size - c.Offset - int64(len(c.Data)) }

// line makes one bounded line, which a terminal may print, of what a hostile
// server sent.
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

// firstLine is the beginning of data up to the end of its line.
func firstLine(data []byte) string {
	text := string(data[:min(len(data), maxRequest)])
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return line(text, maxRequest)
}
