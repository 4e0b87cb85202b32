package sinkhole

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/websocket"
)

// idleSocket is how long a WebSocket may be silent.
const idleSocket = time.Minute

// upgrades reports whether a request opens a WebSocket (RFC 6455, 4.1).
func upgrades(r *http.Request) bool {
	return r.ProtoMajor == 1 && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && r.Header.Get("Sec-Websocket-Key") != ""
}

// webSocket serves a WebSocket. Messages are recorded without their mask, which hides them on the wire.
func (t *conversation) webSocket(w http.ResponseWriter, r *http.Request) {
	server := websocket.Server{
		Handshake: func(offered *websocket.Config, _ *http.Request) error { // clients without a page have no origin
			offered.Protocol = offered.Protocol[:min(len(offered.Protocol), 1)]
			return nil
		},
		Handler: func(socket *websocket.Conn) {
			socket.MaxPayloadBytes = maxMessage
			if t.gateway(socket, r) {
				return
			}
			for {
				message, err := t.receive(socket)
				if err != nil {
					return
				}
				answer := t.answerMessage(message)
				if answer != nil && websocket.Message.Send(socket, string(answer)) != nil {
					return
				}
			}
		},
	}
	server.ServeHTTP(untapped{w}, r)
}

// receive reads and records a message.
func (t *conversation) receive(socket *websocket.Conn) (message []byte, err error) {
	_ = socket.SetDeadline(time.Now().Add(idleSocket)) // a closed connection ends the read as well
	if err := websocket.Message.Receive(socket, &message); err != nil {
		return nil, err
	}
	_, _ = t.flow.Write(message) // never fails
	t.flow.part()
	return message, nil
}

// untapped is a response whose connection, once taken over, is no longer recorded as it comes.
type untapped struct{ http.ResponseWriter }

func (u untapped) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	below, err := hijack(u.ResponseWriter)
	if err != nil {
		return nil, nil, err
	}
	return below, bufio.NewReadWriter(bufio.NewReader(below), bufio.NewWriter(below)), nil
}

// hijack takes over the connection below the tap, with what was read ahead.
func hijack(w http.ResponseWriter) (net.Conn, error) {
	conn, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{}) // those of the HTTP server end here
	below := conn.(*closing).Conn.(*tapped).Conn
	read, _ := rest.Peek(rest.Reader.Buffered()) // no more than there is
	return &ahead{taken{below, conn}, io.MultiReader(bytes.NewReader(bytes.Clone(read)), below)}, nil
}

// taken is a connection whose end also ends the HTTP server's.
type taken struct {
	net.Conn
	server io.Closer
}

func (t taken) Close() error { return t.server.Close() }
