package sinkhole

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// redis says OK to whatever it is told (Redis serialisation protocol, RESP2 and RESP3), and
// has nothing to whoever asks.
func (t *conversation) redis() {
	t.flow.describe("redis", t.host, "")
	in := bufio.NewReader(&tapped{Conn: t.conn, flow: t.flow})
	third := false
	for {
		t.wait(betweenQueries)
		command, argument, err := readCommand(in)
		third = third || command == "HELLO" && argument == "3"
		if err != nil || !t.say(redisReply(command, third)) {
			return
		}
	}
}

// redisReply is the answer to a command; third: in RESP3.
func redisReply(command string, third bool) string {
	switch command {
	case "PING":
		return "+PONG\r\n"
	case "HELLO":
		if third {
			return "%7\r\n" + redisHello + ":3\r\n"
		}
		return "*14\r\n" + redisHello + ":2\r\n"
	case "GET", "HGET", "LPOP", "RPOP", "SPOP", "LINDEX", "ZSCORE":
		if third {
			return "_\r\n"
		}
		return "$-1\r\n"
	case "HGETALL":
		if third {
			return "%0\r\n"
		}
		return "*0\r\n"
	case "KEYS", "MGET", "HKEYS", "HVALS", "LRANGE", "SMEMBERS", "ZRANGE", "XRANGE", "COMMAND", "FT._LIST":
		return "*0\r\n"
	case "SCAN":
		return "*2\r\n$1\r\n0\r\n*0\r\n"
	case "INCR", "DEL", "EXISTS", "LPUSH", "RPUSH", "LLEN", "LREM", "SADD", "SREM", "SCARD", "SISMEMBER", "HSET", "HDEL", "HLEN", "HEXISTS",
		"ZADD", "ZREM", "ZCARD", "XDEL", "XLEN", "APPEND", "STRLEN", "TTL", "EXPIRE", "PUBLISH", "DBSIZE", "UNLINK":
		return ":1\r\n"
	case "INFO":
		return "$20\r\nredis_version:6.0.16\r\n"
	default:
		return "+OK\r\n"
	}
}

// redisHello are the properties of a server, but for the value of the last.
const redisHello = "+server\r\n+redis\r\n+version\r\n+6.0.16\r\n+id\r\n:1\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n+modules\r\n*0\r\n+proto\r\n"

// The bounds of one command: of its words, and of each in bytes.
const (
	maxWords = 1 << 20
	maxWord  = 512 << 20 // proto-max-bulk-len of Redis
)

var errRESP = errors.New("not a command of Redis")

// readCommand reads one command, an array of strings, and returns its first word
// in capitals, and the second.
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
