package sinkhole

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// maxLine is the longest line in bytes; longer ones are split.
const maxLine = 4096

// dialogue serves a protocol of lines: it greets the client, unless the client spoke
// first, and sends what answer returns for each line until the session is over.
func (t *conversation) dialogue(protocol, greeting string, answer func(line string) (reply string, over bool)) {
	greet := t.in.Buffered() == 0
	t.flow.describe(protocol, t.host, "")
	in := bufio.NewReaderSize(t.received(), maxLine)
	if greet && !t.say(greeting) {
		return
	}
	for {
		t.wait(patience)
		read, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		reply, over := answer(strings.TrimRight(string(read), "\r\n"))
		if reply != "" && !t.say(reply+"\r\n") || over {
			return
		}
	}
}

// verb returns the first word of a line in upper case.
func verb(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.ToUpper(word)
}

// ftp takes in files (RFC 959, RFC 2428): the data connection leads to nobody in
// particular, and is taken in like any other.
func (t *conversation) ftp() {
	const dataPort = 40001
	t.dialogue("ftp", "220 FTP ready\r\n", func(line string) (reply string, over bool) {
		switch verb(line) {
		case "USER":
			return "331 Password, please", false
		case "PASS":
			return "230 Logged in", false
		case "AUTH", "PORT", "EPRT", "SIZE", "MDTM", "REST", "FEAT":
			return "502 Not implemented", false
		case "PWD":
			return `257 "/"`, false
		case "CWD", "DELE", "RMD", "RNTO":
			return "250 Done", false
		case "PASV":
			if to := t.to.Addr(); to.Is4() {
				return fmt.Sprintf("227 Passive (%s,%d,%d)", strings.ReplaceAll(to.String(), ".", ","), dataPort>>8, dataPort&0xff), false
			}
			return "502 Not implemented", false // PASV has no form for IPv6
		case "EPSV":
			return fmt.Sprintf("229 Passive (|||%d|)", dataPort), false
		case "STOR", "STOU", "APPE", "LIST", "NLST", "MLSD":
			return "150 Go on\r\n226 Done", false
		case "RETR":
			return "550 No such file", false
		case "QUIT":
			return "221 Bye", true
		}
		return "200 OK", false
	})
}

// pop3 lets anybody in, to an empty mailbox (RFC 1939).
func (t *conversation) pop3() {
	t.dialogue("pop3", "+OK ready\r\n", func(line string) (reply string, over bool) {
		switch verb(line) {
		case "STAT":
			return "+OK 0 0", false
		case "LIST", "UIDL", "CAPA":
			return "+OK\r\n.", false
		case "STLS":
			return "-ERR not available", false
		case "QUIT":
			return "+OK", true
		}
		return "+OK", false
	})
}

// imap lets anybody in and finds nothing (RFC 9051). Each line begins with a tag
// that the answer repeats.
func (t *conversation) imap() {
	t.dialogue("imap", "* OK ready\r\n", func(line string) (reply string, over bool) {
		tag, command, _ := strings.Cut(line, " ")
		done := tag + " OK done"
		switch verb(command) {
		case "CAPABILITY":
			return "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n" + done, false
		case "STARTTLS":
			return tag + " BAD not available", false
		case "APPEND":
			return "+ go on\r\n" + done, false
		case "LOGOUT":
			return "* BYE\r\n" + done, true
		}
		return done, false
	})
}

// ssh lets the client introduce itself and offer its ways to encrypt (RFC 4253,
// 4.2); what would follow is not for us to read.
func (t *conversation) ssh() {
	t.flow.describe("ssh", "", "")
	if t.in.Buffered() > 0 || t.say("SSH-2.0-OpenSSH_9.2\r\n") {
		t.drain()
	}
}
