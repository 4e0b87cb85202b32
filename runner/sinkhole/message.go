package sinkhole

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Editors, browsers and other applications are often driven by JSON messages, over a plain TCP connection or a
// WebSocket.

// maxMessage is the length of the longest message that is answered, in bytes.
const maxMessage = 1 << 20

// messages serves a client that sends JSON, each message with its length before it or none with any.
func (t *conversation) messages() {
	first, _ := t.in.Peek(t.in.Buffered())
	prefix := prefixOf(first)
	t.flow.describe("json", "", "")
	in := t.received()
	bounded := &io.LimitedReader{R: in}
	values := json.NewDecoder(bounded)
	for {
		t.wait(patience)
		bounded.N = maxMessage
		message := json.RawMessage(nil)
		if prefix != nil {
			message = prefix.read(in)
		} else if values.Decode(&message) != nil {
			message = nil
		}
		answer := t.answerMessage(message)
		t.flow.part()
		if answer == nil {
			t.drain()
			return
		}
		if prefix != nil {
			answer = prefix.before(answer)
		} else {
			answer = append(answer, '\n')
		}
		if !t.say(string(answer)) {
			return
		}
	}
}

// beginsMessage reports whether a client begins with a JSON object, or with one and its length before it.
func beginsMessage(first []byte) bool {
	return len(first) > 0 && first[0] == '{' || prefixOf(first) != nil
}

// lengthPrefix is the form of the lengths before messages.
type lengthPrefix struct {
	size  int
	order binary.ByteOrder
}

var lengthPrefixes = []lengthPrefix{{4, binary.BigEndian}, {4, binary.LittleEndian}, {8, binary.BigEndian}, {8, binary.LittleEndian}}

// prefixOf returns the form of the length before a first message; nil if there is none.
func prefixOf(first []byte) *lengthPrefix {
	for _, p := range lengthPrefixes {
		if len(first) > p.size && first[p.size] == '{' && p.length(first) > 1 && p.length(first) <= maxMessage {
			return &p
		}
	}
	return nil
}

func (p lengthPrefix) length(of []byte) uint64 {
	if p.size == 4 {
		return uint64(p.order.Uint32(of))
	}
	return p.order.Uint64(of)
}

// read returns the next message; nil if there is none.
func (p lengthPrefix) read(in io.Reader) json.RawMessage {
	head := make([]byte, p.size)
	if _, err := io.ReadFull(in, head); err != nil || p.length(head) > maxMessage {
		return nil
	}
	message := make([]byte, p.length(head))
	if _, err := io.ReadFull(in, message); err != nil {
		return nil
	}
	return message
}

// before returns a message with its length before it.
func (p lengthPrefix) before(message []byte) []byte {
	head := make([]byte, p.size)
	if p.size == 4 {
		p.order.PutUint32(head, uint32(len(message))) //nolint:gosec // an answer is short
	} else {
		p.order.PutUint64(head, uint64(len(message)))
	}
	return append(head, message...)
}

var (
	// messageID matches the members by which a client knows the answer to its message.
	messageID = lazyregexp.New(`(?i)^(?:jsonrpc|seq|nonce|\w*(?:id|token))$`)
	// messageVerbs are the members that say what a message asks for.
	messageVerbs = []string{"method", "type", "command", "cmd", "action", "op", "event"}
)

// answerMessage returns the answer to a message: what it is known by, that it was successful, and a result, which
// learns from refusals as answers of HTTP do. It is nil for what is no object.
func (t *conversation) answerMessage(message []byte) []byte {
	var asks map[string]any
	if json.Unmarshal(message, &asks) != nil {
		return nil
	}
	kind := []string{"message", t.to.String()}
	for _, name := range messageVerbs {
		if verb, is := asks[name].(string); is {
			kind = append(kind, name, verb)
		}
	}
	shape := t.server.answers.shape(hash(kind...), hash(append(kind, string(message))...))
	a := asked{url: "https://" + t.to.String() + "/", sent: message, reads: shape.reads}
	result := a.reply(shape.form, shape.fields)
	answer := map[string]any{"status": "success", "success": true, "ok": true, "type": "result"}
	if asks["jsonrpc"] != nil { // an answer has no other members (JSON-RPC 2.0, 5)
		clear(answer)
	} else if members, is := result.(map[string]any); is {
		inside := maps.Clone(members)
		maps.Copy(inside, answer)
		answer = inside
		answer["data"] = result
	}
	answer["result"] = result
	for name, value := range asks {
		if messageID.MatchString(name) {
			answer[name] = value
		}
	}
	if verb, _ := asks["type"].(string); strings.HasSuffix(verb, "_init") {
		answer["type"] = strings.TrimSuffix(verb, "init") + "ack" // of GraphQL over WebSocket
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil // no value of reply does that
	}
	return text
}
