package sinkhole

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The protocols of HTTP inside of TLS (RFC 7301, RFC 9113).
const (
	alpnHTTP1 = "http/1.1"
	alpnHTTP2 = "h2"
)

// tls terminates TLS with a certificate for the requested name and serves what is inside.
// The flow of a client that rejects the certificate is opaque.
func (t *conversation) tls() {
	heard := &opening{ahead: t.conn.(*ahead)}
	var asked string
	secure := tls.Server(heard, &tls.Config{
		MinVersion: tls.VersionTLS10, // a client that speaks no newer one leaks as well
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			asked = hello.ServerName
			t.flow.greet(fmt.Sprintf("%q %04x %04x", hello.SupportedProtos, hello.CipherSuites, hello.SupportedCurves))
			return t.settings(hello)
		},
	})
	_ = t.conn.SetDeadline(time.Now().Add(patience)) // a closed connection fails the handshake as well
	err := secure.Handshake()
	t.flow.describe("tls", asked, "")
	if err != nil {
		t.flow.describe("", "", strings.TrimSpace("TLS handshake "+asked))
		t.flow.refused()
		_, _ = t.flow.Write(heard.data)
		return
	}
	heard.stop()
	inside := t.inside(secure)
	inside.secure, inside.host = true, asked
	if secure.ConnectionState().NegotiatedProtocol == alpnHTTP2 {
		inside.http2()
	} else {
		inside.serve()
	}
	if t.flow.empty() {
		// Some clients look at the certificate only after the handshake.
		t.flow.describe("", "", strings.TrimSpace("TLS handshake "+asked))
		t.flow.refused()
	}
	_ = secure.Close() // whatever it says, nobody is there to hear it
}

func (t *conversation) settings(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	host, err := hostOf(hello.ServerName, t.to.Addr())
	if err != nil {
		return nil, err
	}
	certificate, err := t.server.config.Authority.certificate(host, t.server.config.now())
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS10, Certificates: []tls.Certificate{*certificate},
		NextProtos: spoken(hello.SupportedProtos), SessionTicketsDisabled: true,
	}, nil
}

// spoken returns the protocol to select: HTTP if offered, else the first, for a client
// that offers some expects an answer.
func spoken(offered []string) []string {
	for _, p := range []string{alpnHTTP2, alpnHTTP1} {
		if slices.Contains(offered, p) {
			return []string{p}
		}
	}
	return offered[:min(1, len(offered))]
}

// opening records the first bytes of a client until stop.
type opening struct {
	*ahead
	data []byte
	done bool
}

func (o *opening) Read(p []byte) (int, error) {
	n, err := o.ahead.Read(p)
	if !o.done {
		o.data = append(o.data, p[:min(n, maxData-len(o.data))]...)
	}
	return n, err
}

func (o *opening) stop() { o.data, o.done = nil, true }
