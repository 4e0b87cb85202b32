package sinkhole

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// command sends one as OP_MSG, or as OP_QUERY, and returns what it is answered with.
func command(t *testing.T, conn io.ReadWriter, code uint32, command bson.D) bson.Raw {
	t.Helper()
	document, err := bson.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	body, skip := append(make([]byte, 5), document...), 5
	if code == opQuery {
		body, skip = append(append(make([]byte, 4), "admin.$cmd\x00\x00\x00\x00\x00\xff\xff\xff\xff"...), document...), 20
	}
	header := binary.LittleEndian.AppendUint32(nil, uint32(mongoHeader+len(body)))
	for _, n := range []uint32{7, 0, code} {
		header = binary.LittleEndian.AppendUint32(header, n)
	}
	if _, err := conn.Write(append(header, body...)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, mongoHeader)
	if _, err := io.ReadFull(conn, answer); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, binary.LittleEndian.Uint32(answer)-mongoHeader)
	if _, err := io.ReadFull(conn, rest); err != nil || binary.LittleEndian.Uint32(answer[8:]) != 7 {
		t.Fatal(err, answer)
	}
	raw := bson.Raw(rest[skip:])
	if err := raw.Validate(); err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestMongo: a client without a password finds a database with one document.
func TestMongo(t *testing.T) {
	conn := converse(t, 27017)
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a pipe
	if hello := command(t, conn, opQuery, bson.D{{Key: "isMaster", Value: 1}}); !hello.Lookup("ismaster").Boolean() {
		t.Errorf("%s", hello)
	}
	for _, tc := range []struct {
		command bson.D
		want    string
	}{
		{bson.D{{Key: "find", Value: "notes"}, {Key: "$db", Value: "app"}}, `"ns": "app.notes"`},
		{bson.D{{Key: "listCollections", Value: 1}, {Key: "$db", Value: "app"}}, `"app.$cmd.listCollections"`},
		{bson.D{{Key: "insert", Value: "notes"}, {Key: "$db", Value: "app"}}, `"n"`},
		{bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "app"}}, `"ok"`},
		{bson.D{{Key: "saslStart", Value: 1}, {Key: "$db", Value: "admin"}}, `AuthenticationFailed`},
	} {
		if got := command(t, conn, opMsg, tc.command).String(); !strings.Contains(got, tc.want) {
			t.Errorf("%v is answered with %s", tc.command, got)
		}
	}
}

func FuzzMongoCommand(f *testing.F) {
	ping, _ := bson.Marshal(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "app"}})
	f.Add(uint32(opMsg), append(make([]byte, 5), ping...))
	f.Add(uint32(opMsg), append([]byte{3, 0, 0, 0, 1, 9, 0, 0, 0, 'd', 0, 5, 0, 0, 0, 0, 0}, ping...))
	f.Add(uint32(opQuery), append([]byte("\x00\x00\x00\x00admin.$cmd\x00\x00\x00\x00\x00\x01\x00\x00\x00"), ping...))
	f.Fuzz(func(t *testing.T, code uint32, body []byte) {
		command, _ := mongoCommand(code, body)
		if command == nil {
			return
		}
		if first, err := command.IndexErr(0); err == nil && mongoReply(code, 1, answerMongo(first.Key(), command)) == nil {
			t.Error("no answer")
		}
	})
}
