package sinkhole

import (
	"io"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ldap"
)

// TestLDAP: a client gets in, twice on one connection.
func TestLDAP(t *testing.T) {
	conn := converse(t, 389)
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a pipe
	bind := "\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00"
	for range 2 {
		if _, err := io.WriteString(conn, bind); err != nil {
			t.Fatal(err)
		}
		want := ldap.Reply([]byte(bind))
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != string(want) {
			t.Fatalf("%x, %v", got, err)
		}
	}
	_ = conn.Close() // which ends the conversation
}
