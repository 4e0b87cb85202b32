package sinkhole

import (
	"bufio"
	"encoding/binary"
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
		t.wait(patience)
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

// The codes that a session of PostgreSQL may begin with.
const (
	pgSSL     = 80877103
	pgGSS     = 80877104
	pgStartup = 196608
)

// maxStartup bounds the messages of PostgreSQL before anybody is let in, in
// bytes (MAX_STARTUP_PACKET_LENGTH).
const maxStartup = 10000

// postgres ends TLS where that is asked for, asks for the password in the clear,
// and refuses it.
func (t *conversation) postgres() {
	t.flow.describe("postgres", t.host, "PostgreSQL start")
	in := &tapped{Conn: t.conn, flow: t.flow}
	for {
		t.wait(patience)
		body, err := readMessage(in)
		if err != nil || len(body) < 4 {
			return
		}
		switch binary.BigEndian.Uint32(body) {
		case pgSSL:
			if t.say("S") {
				newConversation(t.server, t.flow, t.conn, t.to).tls()
			}
			return
		case pgGSS:
			if !t.say("N") {
				return
			}
		case pgStartup:
			t.pgPassword(in, body[4:])
			return
		default:
			return
		}
	}
}

func (t *conversation) pgPassword(in io.Reader, parameters []byte) {
	t.flow.describe("postgres", "", "PostgreSQL start "+strings.ReplaceAll(strings.Trim(string(parameters), "\x00"), "\x00", " "))
	const cleartextPassword = "R\x00\x00\x00\x08\x00\x00\x00\x03"
	if !t.say(cleartextPassword) {
		return
	}
	t.wait(patience)
	kind := make([]byte, 1)
	if _, err := io.ReadFull(in, kind); err != nil {
		return
	}
	if _, err := readMessage(in); err != nil {
		return
	}
	fields := "SFATAL\x00VFATAL\x00C28P01\x00Mpassword authentication failed\x00\x00"
	t.say("E" + string(binary.BigEndian.AppendUint32(nil, uint32(4+len(fields)))) + fields)
}

var errMessage = errors.New("not a message of PostgreSQL")

// readMessage reads a length, which counts itself, and what it is of.
func readMessage(in io.Reader) ([]byte, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < 4 || length > maxStartup {
		return nil, errMessage
	}
	body := make([]byte, length-4)
	_, err := io.ReadFull(in, body)
	return body, err
}

// The packets that a session of MySQL begins with (protocol 10): three bytes of
// length, a sequence number, the body.
const (
	mysqlGreeting = "\x0a8.0.36\x00" + "\x01\x00\x00\x00" + "saltsalt\x00" + // version, connection, salt
		"\x09\x82" + "\x2d" + "\x02\x00" + "\x08\x00" + // capabilities, character set, status, capabilities
		"\x15" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "saltsaltsalt\x00" + "mysql_native_password\x00"
	mysqlRefusal = "\xff\x15\x04#28000Access denied"
)

// mysql lets a client introduce itself and refuses it.
func (t *conversation) mysql() {
	t.flow.describe("mysql", t.host, "MySQL login")
	if !t.say(mysqlPacket(0, mysqlGreeting)) {
		return
	}
	in := &tapped{Conn: t.conn, flow: t.flow}
	t.wait(patience)
	header := make([]byte, 4)
	if _, err := io.ReadFull(in, header); err != nil {
		return
	}
	length := int64(header[0]) | int64(header[1])<<8 | int64(header[2])<<16
	if _, err := io.CopyN(io.Discard, in, length); err == nil {
		t.say(mysqlPacket(2, mysqlRefusal))
	}
}

func mysqlPacket(sequence byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, sequence}) + body
}
