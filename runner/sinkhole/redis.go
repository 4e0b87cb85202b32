package sinkhole

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// redis is an empty Redis server that accepts every write. It speaks RESP2, and RESP3 on
// request (Redis serialization protocol specification).
func (t *conversation) redis() {
	t.flow.describe("redis", t.host, "")
	in := bufio.NewReader(t.received())
	third := false
	for {
		t.wait(betweenQueries)
		command, argument, err := readCommand(in)
		third = third || command == "HELLO" && argument == "3"
		if err != nil || !t.say(redisReply(command, argument, third)) {
			return
		}
	}
}

// redisReply returns the answer to a command with its first argument; third selects RESP3.
func redisReply(command, argument string, third bool) string {
	if command == "CLIENT" {
		command += " " + strings.ToUpper(argument)
	}
	reply, known := redisReplies[command]
	switch {
	case !known:
		return "+OK\r\n"
	case third:
		return reply[1]
	default:
		return reply[0]
	}
}

// redisHello is the reply to HELLO up to the value of the last property, proto.
const redisHello = "+server\r\n+redis\r\n+version\r\n+6.0.16\r\n+id\r\n:1\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n+modules\r\n*0\r\n+proto\r\n"

// redisReplies are the answers in RESP2 and RESP3 to commands not answered with OK.
var redisReplies = func() map[string][2]string {
	same := func(reply string) [2]string { return [2]string{reply, reply} }
	all := map[string][2]string{
		"PING":        same("+PONG\r\n"),
		"HELLO":       {"*14\r\n" + redisHello + ":2\r\n", "%7\r\n" + redisHello + ":3\r\n"},
		"HGETALL":     {"*0\r\n", "%0\r\n"},
		"SCAN":        same("*2\r\n$1\r\n0\r\n*0\r\n"),
		"INFO":        same("$20\r\nredis_version:6.0.16\r\n"),
		"CLIENT LIST": same("$24\r\nid=1 addr=127.0.0.1:4711\r\n"),
		"FT.SEARCH":   {"*1\r\n:0\r\n", "%2\r\n+total_results\r\n:0\r\n+results\r\n*0\r\n"},
		"FT.INFO":     {"*2\r\n+num_docs\r\n:0\r\n", "%1\r\n+num_docs\r\n:0\r\n"},
	}
	for commands, reply := range map[string][2]string{
		"GET HGET LPOP RPOP SPOP LINDEX ZSCORE":                                {"$-1\r\n", "_\r\n"},
		"KEYS MGET HKEYS HVALS LRANGE SMEMBERS ZRANGE XRANGE COMMAND FT._LIST": same("*0\r\n"),
		"INCR DEL EXISTS LPUSH RPUSH LLEN LREM SADD SREM SCARD SISMEMBER HSET HDEL HLEN HEXISTS ZADD ZREM ZCARD XDEL XLEN " +
			"APPEND STRLEN TTL EXPIRE PUBLISH DBSIZE UNLINK": same(":1\r\n"),
	} {
		for _, command := range strings.Fields(commands) {
			all[command] = reply
		}
	}
	return all
}()

// The bounds of one command: of its words, and of each in bytes.
const (
	maxWords = 1 << 20
	maxWord  = 512 << 20 // proto-max-bulk-len of Redis
)

var errRESP = errors.New("not a command of Redis")

// readCommand reads one command, an array of strings, and returns its first word in
// upper case and its second.
func readCommand(in *bufio.Reader) (command, argument string, err error) {
	words, err := readLength(in, '*', maxWords)
	if err != nil {
		return "", "", err
	}
	for i := range words {
		length, err := readLength(in, '$', maxWord)
		if err != nil {
			return "", "", err
		}
		word, _ := in.Peek(min(length, 32)) // a short one is one that breaks off
		switch i {
		case 0:
			command = strings.ToUpper(string(word))
		case 1:
			argument = string(word)
		}
		if _, err := io.CopyN(io.Discard, in, int64(length)+2); err != nil { // and the end of the line
			return "", "", err
		}
	}
	return command, argument, nil
}

func readLength(in *bufio.Reader, kind byte, most int) (int, error) {
	text, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if text[0] != kind {
		return 0, errRESP
	}
	n, err := strconv.Atoi(strings.TrimRight(string(text[1:]), "\r\n"))
	if err != nil || n < 0 || n > most {
		return 0, errRESP
	}
	return n, nil
}
