package sinkhole

import (
	"bufio"
	"strings"
	"testing"
)

// Clients that ask for RESP3 get it, and what counts gets a number: an error that a server
// returns as a text looks like an answer.
func TestRedis(t *testing.T) {
	for _, tc := range []struct {
		command, argument string
		third             bool
		want              string
	}{
		{"HELLO", "a", true, "%7\r\n"},
		{"HELLO", "a", false, "*14\r\n"},
		{"GET", "a", true, "_\r\n"},
		{"GET", "a", false, "$-1\r\n"},
		{"HGETALL", "a", true, "%0\r\n"},
		{"LLEN", "a", true, ":1\r\n"},
		{"HEXISTS", "a", false, ":1\r\n"},
		{"DBSIZE", "a", false, ":1\r\n"},
		{"CLIENT", "list", false, "$24\r\nid=1 "},
		{"CLIENT", "SETINFO", false, "+OK\r\n"},
		{"FT.SEARCH", "a", true, "%2\r\n"},
		{"FT.INFO", "a", false, "*2\r\n"},
		{"SET", "a", true, "+OK\r\n"},
	} {
		if got := redisReply(tc.command, tc.argument, tc.third); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s, RESP3 %t: %q", tc.command, tc.third, got)
		}
	}
	for third, last := range map[bool]string{true: "+proto\r\n:3\r\n", false: "+proto\r\n:2\r\n"} {
		if got := redisReply("HELLO", "3", third); !strings.HasSuffix(got, last) {
			t.Errorf("RESP3 %t: %q", third, got)
		}
	}
	command, argument, err := readCommand(bufio.NewReader(strings.NewReader("*3\r\n$5\r\nhello\r\n$1\r\n3\r\n$4\r\nAUTH\r\n")))
	if command != "HELLO" || argument != "3" || err != nil {
		t.Errorf("%q %q %v", command, argument, err)
	}
}
