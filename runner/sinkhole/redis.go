package sinkhole

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// redis says OK to whatever it is told (Redis serialisation protocol, RESP2), and
// has nothing to whoever asks.
func (t *conversation) redis() {
	t.flow.describe("redis", t.host, "")
	in := bufio.NewReader(&tapped{Conn: t.conn, flow: t.flow})
	for {
		t.wait(betweenQueries)
		command, err := readCommand(in)
		if err != nil || !t.say(redisReply(command)) {
			return
		}
	}
}

func redisReply(command string) string {
	switch command {
	case "PING":
		return "+PONG\r\n"
	case "HELLO":
		return "-ERR unknown command\r\n" // an old server: the client goes on in RESP2
	case "GET", "HGET", "LPOP", "RPOP":
		return "$-1\r\n"
	case "KEYS", "MGET", "HGETALL", "LRANGE", "SMEMBERS", "COMMAND":
		return "*0\r\n"
	case "INCR", "DEL", "EXISTS", "LPUSH", "RPUSH", "SADD", "HSET", "EXPIRE", "PUBLISH", "DBSIZE":
		return ":1\r\n"
	case "INFO":
		return "$20\r\nredis_version:6.0.16\r\n"
	default:
		return "+OK\r\n"
	}
}

// The bounds of one command: of its words, and of each in bytes.
const (
	maxWords = 1 << 20
	maxWord  = 512 << 20 // proto-max-bulk-len of Redis
)

var errRESP = errors.New("not a command of Redis")

// readCommand reads one command, an array of strings, and returns its first word
// in capitals.
func readCommand(in *bufio.Reader) (string, error) {
	words, err := readLength(in, '*', maxWords)
	if err != nil {
		return "", err
	}
	command := ""
	for i := range words {
		length, err := readLength(in, '$', maxWord)
		if err != nil {
			return "", err
		}
		if i == 0 {
			word, _ := in.Peek(min(length, 32)) // a short one is one that breaks off
			command = strings.ToUpper(string(word))
		}
		if _, err := io.CopyN(io.Discard, in, int64(length)+2); err != nil { // and the end of the line
			return "", err
		}
	}
	return command, nil
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
