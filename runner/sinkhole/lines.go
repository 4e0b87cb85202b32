package sinkhole

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// maxLine bounds a line of a protocol that is made of lines, in bytes; what is
// longer comes as several.
const maxLine = 4096

// lines begins a protocol that is made of lines: it greets the client, unless
// that has spoken already, and returns a function that reads the next line.
func (t *conversation) lines(protocol, greeting string) (next func() (string, bool)) {
	greet := t.in.Buffered() == 0
	t.flow.describe(protocol, t.host, "")
	in := bufio.NewReaderSize(&tapped{Conn: t.conn, flow: t.flow}, maxLine)
	gone := greet && !t.say(greeting)
	return func() (string, bool) {
		if gone {
			return "", false
		}
		t.wait(patience)
		read, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", false
		}
		return strings.TrimRight(string(read), "\r\n"), true
	}
}

// verb is the first word of a line, in capitals.
func verb(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.ToUpper(word)
}

// ftp takes in files (RFC 959, RFC 2428): the data connection leads to nobody in
// particular, and is taken in like any other.
func (t *conversation) ftp() {
	next := t.lines("ftp", "220 FTP ready\r\n")
	const dataPort = 40001
	for text, ok := next(); ok; text, ok = next() {
		reply := "200 OK"
		switch verb(text) {
		case "USER":
			reply = "331 Password, please"
		case "PASS":
			reply = "230 Logged in"
		case "AUTH", "PORT", "EPRT", "SIZE", "MDTM", "REST", "FEAT":
			reply = "502 Not implemented"
		case "PWD":
			reply = `257 "/"`
		case "CWD", "DELE", "RMD", "RNTO":
			reply = "250 Done"
		case "PASV":
			reply = "502 Not implemented" // there is no such way to IPv6
			if to := t.to.Addr(); to.Is4() {
				reply = fmt.Sprintf("227 Passive (%s,%d,%d)", strings.ReplaceAll(to.String(), ".", ","), dataPort>>8, dataPort&0xff)
			}
		case "EPSV":
			reply = fmt.Sprintf("229 Passive (|||%d|)", dataPort)
		case "STOR", "STOU", "APPE", "LIST", "NLST", "MLSD":
			reply = "150 Go on\r\n226 Done"
		case "RETR":
			reply = "550 No such file"
		case "QUIT":
			t.say("221 Bye\r\n")
			return
		}
		if !t.say(reply + "\r\n") {
			return
		}
	}
}

// pop3 lets anybody in, to an empty mailbox (RFC 1939).
func (t *conversation) pop3() {
	next := t.lines("pop3", "+OK ready\r\n")
	for text, ok := next(); ok; text, ok = next() {
		reply := "+OK"
		switch verb(text) {
		case "STAT":
			reply = "+OK 0 0"
		case "LIST", "UIDL", "CAPA":
			reply = "+OK\r\n."
		case "STLS":
			reply = "-ERR not available"
		case "QUIT":
			t.say("+OK\r\n")
			return
		}
		if !t.say(reply + "\r\n") {
			return
		}
	}
}

// imap lets anybody in and finds nothing (RFC 9051). Each line begins with a tag
// that the answer repeats.
func (t *conversation) imap() {
	next := t.lines("imap", "* OK ready\r\n")
	for text, ok := next(); ok; text, ok = next() {
		tag, command, _ := strings.Cut(text, " ")
		reply := tag + " OK done"
		switch verb(command) {
		case "CAPABILITY":
			reply = "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n" + reply
		case "STARTTLS":
			reply = tag + " BAD not available"
		case "APPEND":
			reply = "+ go on\r\n" + reply
		case "LOGOUT":
			t.say("* BYE\r\n" + reply + "\r\n")
			return
		}
		if !t.say(reply + "\r\n") {
			return
		}
	}
}

// ssh lets the client introduce itself and offer its ways to encrypt (RFC 4253,
// 4.2); what would follow is not for us to read.
func (t *conversation) ssh() {
	t.flow.describe("ssh", "", "")
	if t.in.Buffered() > 0 || t.say("SSH-2.0-OpenSSH_9.2\r\n") {
		t.drain()
	}
}
