package sinkhole

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// TestMessages: a message over TCP is answered, in the framing that it came in.
func TestMessages(t *testing.T) {
	const asks = `{"type":"get_scene_info","params":{},"request_id":7}`
	for name, order := range map[string]binary.AppendByteOrder{"plain": nil, "big": binary.BigEndian, "little": binary.LittleEndian} {
		conn := converse(t, 9876)
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a pipe
		sent := []byte(asks)
		if order != nil {
			sent = append(order.AppendUint32(nil, uint32(len(asks))), asks...)
		}
		answers := json.NewDecoder(conn) // an answer without a length ends with a line
		for range 2 {                    // a connection has several messages
			if _, err := conn.Write(sent); err != nil {
				t.Fatal(err)
			}
			if order != nil {
				answers = json.NewDecoder(conn)
				if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
					t.Fatal(err)
				}
			}
			var answer struct {
				Status string
				ID     int `json:"request_id"`
				Result map[string]any
			}
			if err := answers.Decode(&answer); err != nil || answer.Status != "success" || answer.ID != 7 || answer.Result["name"] != "note" {
				t.Errorf("%s: %+v %v", name, answer, err)
			}
		}
	}
}

// TestAnswersToMessages learn from refusals, and an answer of JSON-RPC has nothing but its own members.
func TestAnswersToMessages(t *testing.T) {
	a := newAsker()
	message := []byte(`{"type":"get_scene","params":{}}`)
	a.server.Call(Call{})
	a.answerMessage(message)
	a.server.Call(Call{Ended: true, Refusal: "KeyError: 'object_count'"})
	if answer := string(a.answerMessage(message)); !strings.Contains(answer, `"object_count"`) {
		t.Errorf("the field that was missing: %s", answer)
	}
	if answer := string(a.answerMessage([]byte(`{"jsonrpc":"2.0","id":"a","method":"eth_blockNumber"}`))); !strings.Contains(answer, `"id":"a"`) || strings.Contains(answer, `"success":true,"type"`) {
		t.Errorf("JSON-RPC: %s", answer)
	}
	for _, none := range []string{`[1]`, `"x"`, `{`, ``} {
		if answer := a.answerMessage([]byte(none)); answer != nil {
			t.Errorf("%q is answered with %s", none, answer)
		}
	}
}

// TestWebSocket: messages are answered in it.
func TestWebSocket(t *testing.T) {
	at, _ := url.Parse("ws://bridge.example/")
	socket, err := websocket.NewClient(&websocket.Config{Location: at, Origin: at, Version: websocket.ProtocolVersionHybi13, Protocol: []string{"a", "b"}}, converse(t, 8080))
	if err != nil {
		t.Fatal(err)
	}
	_ = socket.SetDeadline(time.Now().Add(time.Minute))
	for _, asks := range []string{`{"id":1,"method":"Page.enable"}`, `{"id":2,"type":"connection_init"}`} {
		var answer string
		if err := websocket.Message.Send(socket, asks); err != nil {
			t.Fatal(err)
		}
		if err := websocket.Message.Receive(socket, &answer); err != nil || !strings.Contains(answer, asks[1:7]) || !strings.Contains(answer, `"result":{`) {
			t.Errorf("%s: %s %v", asks, answer, err)
		}
	}
	if err := socket.Close(); err != nil {
		t.Error(err)
	}
}

// TestGateway: the gateway of Discord speaks first, and has a guild for whoever identifies itself.
func TestGateway(t *testing.T) {
	at, _ := url.Parse("ws://gateway.discord.gg/?v=10&encoding=json")
	socket, err := websocket.NewClient(&websocket.Config{Location: at, Origin: at, Version: websocket.ProtocolVersionHybi13}, converse(t, 8080))
	if err != nil {
		t.Fatal(err)
	}
	_ = socket.SetDeadline(time.Now().Add(time.Minute))
	var got []string
	receive := func() {
		var each event
		if err := websocket.JSON.Receive(socket, &each); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(each.Op, each.Type))
	}
	receive()
	for _, op := range []int{opHeartbeat, opIdentify} {
		if err := websocket.JSON.Send(socket, event{Op: op}); err != nil {
			t.Fatal(err)
		}
		receive()
	}
	receive()
	if want := []string{"10", "11", "0READY", "0GUILD_CREATE"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}
