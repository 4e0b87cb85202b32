package sinkhole

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// How long a client is waited for.
const (
	// silence is after how long a client that has said nothing is taken for one
	// that waits to be greeted.
	silence = 300 * time.Millisecond
	// unspoken is how long a connection may stay silent where there is no
	// greeting; linger how long it stays open after the last that came, in a
	// protocol that is not spoken: its client may be waiting for an answer that
	// will never come, and had better give up soon.
	unspoken = 5 * time.Second
	linger   = 2 * time.Second
	// patience is how long a client may take for the next thing to say in a
	// protocol that is spoken, or for a handshake.
	patience = 15 * time.Second
)

// talk is a conversation with one client, whose protocol is found out.
type talk struct {
	server *Server
	flow   *flow
	// conn reads what in has looked at first.
	conn net.Conn
	in   *bufio.Reader
	to   netip.AddrPort
	// secure: conn is inside of TLS. host is the name of the handshake, or of the
	// tunnel that this is in.
	secure bool
	host   string
}

func newTalk(s *Server, f *flow, conn net.Conn, to netip.AddrPort) *talk {
	in := bufio.NewReader(conn)
	return &talk{server: s, flow: f, conn: &ahead{conn, in}, in: in, to: to}
}

// ahead is a connection of which some has been read already.
type ahead struct {
	net.Conn
	in *bufio.Reader
}

func (a *ahead) Read(p []byte) (int, error) { return a.in.Read(p) }

// serve finds out what the client speaks and answers in kind.
func (t *talk) serve() {
	first := t.first()
	speak := protocolOf(first, t.to.Port())
	if speak == nil {
		speak = greetings[t.to.Port()]
	}
	if speak == nil {
		speak = (*talk).drain
	}
	speak(t)
}

// enough is how many bytes tell every protocol that is told by its beginning.
const enough = 16

// first is the beginning of what the client says; empty if it waits to be spoken
// to, or is gone.
func (t *talk) first() []byte {
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

// wait sets the time until which something has to come.
func (t *talk) wait(d time.Duration) {
	_ = t.conn.SetReadDeadline(time.Now().Add(d)) // a closed connection ends the read as well
}

// drain takes in whatever comes.
func (t *talk) drain() {
	in := &tapped{Conn: t.conn, flow: t.flow}
	buffer := make([]byte, 4096)
	for {
		t.wait(linger)
		if _, err := in.Read(buffer); err != nil {
			return
		}
	}
}

// speaker holds a conversation in one protocol.
type speaker func(*talk)

// greetings are the protocols in which the server speaks first, by port.
var greetings map[uint16]speaker

func init() { // not above: they serve what comes inside of TLS, which may need to be greeted
	greetings = map[uint16]speaker{
		21: (*talk).ftp, 22: (*talk).ssh, 25: (*talk).smtp, 110: (*talk).pop3, 143: (*talk).imap, 465: (*talk).smtp,
		587: (*talk).smtp, 993: (*talk).imap, 995: (*talk).pop3, 2525: (*talk).smtp, 3306: (*talk).mysql,
	}
}

// The beginnings of what clients say.
var (
	// methods of HTTP (RFC 9110, 9.3; RFC 5789), and the preface of HTTP/2 (RFC
	// 9113, 3.4).
	methods = [][]byte{
		[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "), []byte("DELETE "), []byte("PATCH "),
		[]byte("OPTIONS "), []byte("CONNECT "), []byte("TRACE "), []byte("PRI * HTTP/2.0"), []byte("PROPFIND "),
	}
	// handshake is that of TLS: a record of type 22 and major version 3 (RFC 8446,
	// 5.1).
	handshake = []byte{22, 3}
	// starts are the messages that begin a session of PostgreSQL, behind four
	// bytes of length (protocol 3.0, "Message Formats"): SSLRequest,
	// GSSENCRequest, StartupMessage.
	starts = [][]byte{{4, 210, 22, 47}, {4, 210, 22, 48}, {0, 3, 0, 0}}
)

// protocolOf tells the protocol by the beginning of what a client says and by
// the port; nil where that is none of ours.
func protocolOf(first []byte, port uint16) speaker {
	switch {
	case len(first) == 0:
		return nil
	case bytes.HasPrefix(first, handshake):
		return (*talk).tls
	case port == portDNS || port == portDoT:
		return (*talk).dns
	case startsWith(first, methods):
		return (*talk).http
	case len(first) >= 8 && first[0] == 0 && startsWith(first[4:], starts):
		return (*talk).postgres
	case len(first) >= 2 && first[0] == '*' && first[1] >= '1' && first[1] <= '9':
		return (*talk).redis
	default:
		return nil
	}
}

func startsWith(first []byte, any [][]byte) bool {
	for _, beginning := range any {
		if bytes.HasPrefix(first, beginning) {
			return true
		}
	}
	return false
}

// undecided reports whether more bytes could still make a protocol of it.
func undecided(first []byte) bool {
	if len(first) < 8 && first[0] == 0 || len(first) < 2 && (first[0] == handshake[0] || first[0] == '*') {
		return true
	}
	for _, m := range methods {
		if len(first) < len(m) && bytes.HasPrefix(m, first) {
			return true
		}
	}
	return false
}

// say writes to the client; false if it is gone.
func (t *talk) say(text string) bool {
	_ = t.conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails the write as well
	_, err := io.WriteString(t.conn, text)
	return err == nil
}
