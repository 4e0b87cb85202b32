package audit

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/depend"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// A name in a handshake or a header is data of the server's choice, and no part of the way.
func TestSentPieceNames(t *testing.T) {
	record := func(host string) *depend.Record {
		c := sinkhole.Capture{Protocol: "tls", Host: host, Destination: netip.MustParseAddrPort("192.0.2.7:443"), Opaque: true, Data: []byte("\x16\x03\x01")}
		r := &depend.Record{}
		r.Add(sentPiece(c, ledger.Ledger{}, &leak.Collector{}))
		return r
	}
	same := []*depend.Record{record("5a0b2622300b34f6.example"), record("5a0b2622300b34f6.example")}
	others := []*depend.Record{record("91cc0f77e2d4a1b8.example"), record("91cc0f77e2d4a1b8.example")}
	got := depend.Suspects(same, others)
	if len(got) != 1 || got[0].Destination != "192.0.2.7:443" || !strings.Contains(got[0].With, "5a0b2622300b34f6") {
		t.Errorf("%+v", got)
	}
	if got := depend.Suspects(same, same); len(got) > 0 {
		t.Errorf("the same names: %+v", got)
	}
}

// So is the order of what a client offers in a handshake.
func TestSentPieceHello(t *testing.T) {
	record := func(hello string) *depend.Record {
		c := sinkhole.Capture{Protocol: "https", Hello: hello, Destination: netip.MustParseAddrPort("192.0.2.7:443"), Data: []byte("POST / HTTP/1.1")}
		r := &depend.Record{}
		r.Add(sentPiece(c, ledger.Ledger{}, &leak.Collector{}))
		return r
	}
	one, other := record(`["h2" "spdy/3" "h2c" "http/1.0"]`), record(`["spdy/3" "h2c" "http/1.0" "h2"]`)
	if got := depend.Suspects([]*depend.Record{one, one}, []*depend.Record{other, other}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// The id of a request is the server's choice, and that of an answer ours.
func TestContentOfMessages(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"k-71fe","method":"roots/list"}`: `{"jsonrpc":"2.0","id":"k-71fe","method":"roots/list"}`,
		`{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}`:        `{"jsonrpc":"2.0","id":,"result":{"roots":[]}}`,
		`{"result":{"id":3}, "id": 7,"x":"q7","jsonrpc":"2.0"}`: `{"result":{"id":3}, "id": ,"x":"q7","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","error":{"code":-32041}}`:             `{"jsonrpc":"2.0","error":{"code":-32041}}`,
		`no JSON, but a method`:                                 `no JSON, but a method`,
	} {
		if got, answer := content([]byte(line)); string(got) != want || answer == strings.Contains(line, "method") {
			t.Errorf("%s: %s, %t, want %s", line, got, answer, want)
		}
	}
}

// An answer's delay is that since its request was written.
func TestDelayOfAnswers(t *testing.T) {
	sent := time.Unix(1, 0)
	sessions := ledger.Ledger{{Received: 10, Sent: sent}, {Received: 20, Sent: sent.Add(time.Second)}}
	if took, known := (said{end: 20, time: sent.Add(1300 * time.Millisecond), answer: true}).delay(sessions); !known || took != 300*time.Millisecond {
		t.Errorf("%v, %t", took, known)
	}
	for _, s := range []said{{end: 15, answer: true}, {end: 20}, {end: 30, answer: true}} {
		if took, known := s.delay(sessions); known {
			t.Errorf("%+v took %v", s, took)
		}
	}
}
