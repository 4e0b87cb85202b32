package sinkhole

import (
	"bufio"
	"io"

	"github.com/mcpaudit/mcpaudit/runner/ldap"
)

// ldap accepts any name and password, and finds one person.
func (t *conversation) ldap() {
	t.flow.describe("ldap", t.host, "")
	in := bufio.NewReader(t.received())
	for {
		t.wait(betweenQueries)
		first, err := in.Peek(ldap.Header)
		if err != nil {
			return
		}
		message := make([]byte, ldap.Size(first))
		if _, err := io.ReadFull(in, message); err != nil || len(message) == 0 {
			return
		}
		t.flow.part()
		if !t.say(string(ldap.Reply(message))) {
			return
		}
	}
}
