package sinkhole

import "strings"

// smtp accepts mail (RFC 5321) and any password (RFC 4954).
func (t *conversation) smtp() {
	m := mail{secure: t.secure}
	t.dialogue("smtp", "220 mail ESMTP ready\r\n", func(line string) (reply string, over bool) {
		reply = m.answer(line)
		if m.envelope != "" {
			t.flow.describe("", "", m.envelope)
		}
		return reply, m.over || m.upgrade
	})
	if m.upgrade {
		newConversation(t.server, t.flow, t.conn, t.to).tls()
	}
}

// mail is the state of a session.
type mail struct {
	secure bool
	// envelope has the sender and the recipients.
	envelope string
	// words counts the words of a password still to come; inData is set within a mail.
	words  int
	inData bool
	// over is set after QUIT, upgrade when TLS comes next.
	over, upgrade bool
}

// answer returns the answer to a line; "" within a mail.
func (m *mail) answer(text string) string {
	switch {
	case m.inData && text != ".":
		return ""
	case m.inData:
		m.inData = false
		return "250 OK: queued"
	case m.words > 0:
		m.words--
		return m.password()
	}
	switch verb(text) {
	case "EHLO":
		return m.offers()
	case "STARTTLS":
		m.upgrade = !m.secure
		return "220 Go on"
	case "AUTH":
		m.words = 3 - len(strings.Fields(text)) // PLAIN has one word, and may say it at once
		if strings.Contains(strings.ToUpper(text), "LOGIN") {
			m.words++ // two, the first of which it may say at once
		}
		m.words = max(0, m.words)
		return m.password()
	case "MAIL":
		m.envelope = text
	case "RCPT":
		m.envelope += " " + text
		m.envelope = m.envelope[:min(len(m.envelope), maxRequest)]
	case "DATA":
		m.inData = true
		return "354 Go on"
	case "QUIT":
		m.over = true
		return "221 Bye"
	}
	return "250 OK"
}

func (m *mail) offers() string {
	offers := "250-mail\r\n250-8BITMIME\r\n250-SIZE 52428800\r\n250-AUTH PLAIN LOGIN\r\n"
	if !m.secure {
		offers += "250-STARTTLS\r\n"
	}
	return offers + "250 OK"
}

// password asks for the next word of a password with the prompts of LOGIN ("Username:"
// and "Password:" in base64).
func (m *mail) password() string {
	switch m.words {
	case 0:
		return "235 Welcome"
	case 1:
		return "334 UGFzc3dvcmQ6"
	default:
		return "334 VXNlcm5hbWU6"
	}
}
