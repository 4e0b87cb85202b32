package sinkhole

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ldap"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// Timeouts.
const (
	// silence is how long a client may be silent before it is greeted.
	silence = 300 * time.Millisecond
	// unspoken is how long a client may be silent on a port without a greeting.
	// linger is how long a connection in an unknown protocol stays open after the
	// last byte: its client may wait for an answer that never comes.
	unspoken = 5 * time.Second
	linger   = 2 * time.Second
	// patience is how long a client may take for its next message in a known
	// protocol, or for a handshake.
	patience = 15 * time.Second
)

// conversation serves one client and detects its protocol.
type conversation struct {
	server *Server
	flow   *flow
	// conn reads through in.
	conn net.Conn
	in   *bufio.Reader
	to   netip.AddrPort
	// secure is set inside TLS. host is the name in the handshake, or of the tunnel.
	secure bool
	host   string
	// nested counts the tunnels and the TLS that it is in.
	nested int
}

func newConversation(s *Server, f *flow, conn net.Conn, to netip.AddrPort) *conversation {
	in := bufio.NewReader(conn)
	return &conversation{server: s, flow: f, conn: &ahead{conn, in}, in: in, to: to}
}

// maxNested bounds tunnels and TLS within each other: each has buffers.
const maxNested = 6

// inside returns the conversation within a tunnel or TLS. What is nested too deep is only recorded.
func (t *conversation) inside(conn net.Conn) *conversation {
	inner := newConversation(t.server, t.flow, conn, t.to)
	inner.nested = t.nested + 1
	return inner
}

// ahead is a connection that is read through in, which has read ahead.
type ahead struct {
	net.Conn
	in io.Reader
}

func (a *ahead) Read(p []byte) (int, error) { return a.in.Read(p) }

// serve detects the client's protocol and answers in it.
func (t *conversation) serve() {
	first := t.first()
	speak := protocolOf(first, t.to.Port())
	if speak == nil {
		speak = greetings[t.to.Port()]
	}
	if speak == nil || t.nested > maxNested {
		speak = (*conversation).drain
	}
	speak(t)
}

// enough bytes identify every protocol that is recognised by its beginning.
const enough = 16

// first returns the first bytes from the client; none if it waits to be greeted, or is
// gone.
func (t *conversation) first() []byte {
	t.wait(silence)
	first, err := t.in.Peek(1)
	if errors.Is(err, os.ErrDeadlineExceeded) && greetings[t.to.Port()] == nil {
		t.wait(unspoken)
		first, _ = t.in.Peek(1) // whatever is there tells
	}
	t.wait(linger)
	for n := len(first); n > 0 && n < enough && undecided(first); n = len(first) {
		more, err := t.in.Peek(n + 1)
		if err != nil {
			return more
		}
		first, _ = t.in.Peek(t.in.Buffered()) // no more than there is
	}
	if n := t.in.Buffered(); n > len(first) {
		first, _ = t.in.Peek(n) // as above
	}
	return first
}

// wait sets the read deadline.
func (t *conversation) wait(d time.Duration) {
	_ = t.conn.SetReadDeadline(time.Now().Add(d)) // a closed connection ends the read as well
}

// received reads from the client, and records what it reads.
func (t *conversation) received() io.Reader { return io.TeeReader(t.conn, t.flow) }

// drain takes in whatever comes.
func (t *conversation) drain() {
	in, buffer := t.received(), make([]byte, 4096)
	for {
		t.wait(linger)
		if _, err := in.Read(buffer); err != nil {
			return
		}
	}
}

type speaker func(*conversation)

// greetings are the protocols in which the server speaks first, by port.
var greetings map[uint16]speaker

func init() { // not above: they serve what comes inside of TLS, which may need to be greeted
	greetings = map[uint16]speaker{
		21: (*conversation).ftp, 22: (*conversation).ssh, 25: (*conversation).smtp, 110: (*conversation).pop3, 143: (*conversation).imap, 465: (*conversation).smtp,
		587: (*conversation).smtp, 993: (*conversation).imap, 995: (*conversation).pop3, 2525: (*conversation).smtp, 3306: (*conversation).mysql,
	}
}

// The beginnings of what clients say.
var (
	// methods of HTTP (RFC 9110, 9.3; RFC 5789) and WebDAV, and the preface of HTTP/2 (RFC
	// 9113, 3.4).
	methods = slices.Concat(davBeginnings(), [][]byte{
		[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "), []byte("DELETE "), []byte("PATCH "),
		[]byte("OPTIONS "), []byte("CONNECT "), []byte("TRACE "), []byte("PRI * HTTP/2.0"),
	})
	// handshake begins TLS: a record of type 22 and major version 3 (RFC 8446,
	// 5.1).
	handshake = []byte{22, 3}
	// starts are the messages that begin a session of PostgreSQL, behind four
	// bytes of length (protocol 3, "Message Formats"): SSLRequest,
	// GSSENCRequest, StartupMessage.
	starts = [][]byte{{4, 210, 22, 47}, {4, 210, 22, 48}, {0, pgMajor, 0}}
)

// protocolOf detects the protocol from the client's first bytes and the port; nil if it
// is unknown.
func protocolOf(first []byte, port uint16) speaker {
	switch {
	case len(first) == 0:
		return nil
	case bytes.HasPrefix(first, handshake):
		return (*conversation).tls
	case port == places.PortDNS || port == portDoT:
		return (*conversation).dns
	case startsWith(first, methods):
		return (*conversation).http
	case len(first) >= 8 && first[0] == 0 && startsWith(first[4:], starts):
		return (*conversation).postgres
	case bytes.HasPrefix(first, boltMagic):
		return (*conversation).bolt
	case len(first) >= 2 && first[0] == '*' && first[1] >= '1' && first[1] <= '9':
		return (*conversation).redis
	default:
		return measured(first)
	}
}

// measured detects protocols whose messages begin with their length.
func measured(first []byte) speaker {
	switch {
	case beginsMongo(first):
		return (*conversation).mongo
	case ldap.Begins(first):
		return (*conversation).ldap
	case beginsMessage(first):
		return (*conversation).messages
	}
	return nil
}

func startsWith(first []byte, any [][]byte) bool {
	return slices.ContainsFunc(any, func(beginning []byte) bool { return bytes.HasPrefix(first, beginning) })
}

// undecided reports whether more bytes could still make a protocol of it.
func undecided(first []byte) bool {
	if len(first) < len(boltMagic) && bytes.HasPrefix(boltMagic, first) || len(first) < 8 && first[0] == 0 || len(first) < 2 && (first[0] == handshake[0] || first[0] == '*') {
		return true
	}
	return slices.ContainsFunc(methods, func(m []byte) bool { return len(first) < len(m) && bytes.HasPrefix(m, first) })
}

// say writes to the client; false if it is gone.
func (t *conversation) say(text string) bool {
	_ = t.conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails the write as well
	_, err := io.WriteString(t.conn, text)
	return err == nil
}
