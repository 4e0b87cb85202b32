package sinkhole

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// FuzzQuestion: whatever comes to a name server is answered in its own terms, or
// not at all.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x07example\x00\x00\x01\x00\x01"))
	f.Add([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x013\x012\x0218\x0228\x07in-addr\x04arpa\x00\x00\x0c\x00\x01"))
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, ok := parseQuestion(data)
		if !ok {
			return
		}
		if r := q.request(); len(r) > maxRequest || strings.ContainsFunc(r, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("request %q", r)
		}
		answer := resolver{names: newNames(), self: "machine"}.answer(q)
		if answer == nil {
			return
		}
		if len(answer) < 12 || !bytes.Equal(answer[:2], data[:2]) || answer[2]&0x80 == 0 {
			t.Errorf("answer %x to %x", answer, data)
		}
	})
}

// FuzzReceive: no stream makes a capture that is larger than its bounds.
func FuzzReceive(f *testing.F) {
	line, err := json.Marshal(Capture{Protocol: "http", Data: []byte("x"), Size: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"protocol":"\u001b[31m","host":"` + strings.Repeat("x", 300) + `"}`))
	f.Add([]byte(`{"offset":-1}` + "\n" + `{"size":-9223372036854775808}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Receive(bytes.NewReader(data), func(c Capture) {
			if len(c.Data) > maxData || len(c.Host) > maxHost || len(c.Request) > maxRequest || c.Offset < 0 || c.Lost() < 0 {
				t.Errorf("capture %+v", c)
			}
		})
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("error %q", err)
		}
	})
}

// said is a client that says something and hangs up.
type said struct {
	io.Reader
	heard int
}

func (s *said) Write(p []byte) (int, error)      { s.heard += len(p); return len(p), nil }
func (s *said) Close() error                     { return nil }
func (s *said) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: sinkPort} }
func (s *said) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }
func (s *said) SetDeadline(time.Time) error      { return nil }
func (s *said) SetReadDeadline(time.Time) error  { return nil }
func (s *said) SetWriteDeadline(time.Time) error { return nil }

// FuzzTalk: whatever a client says, on whatever port, is taken in byte for byte
// and makes nothing hang.
func FuzzTalk(f *testing.F) {
	authority, err := NewAuthority(nil)
	if err != nil {
		f.Fatal(err)
	}
	for port, text := range map[uint16]string{
		80: "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 8080: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		25: "EHLO x\r\nAUTH LOGIN\r\nx\r\ny\r\nMAIL FROM:<x>\r\nDATA\r\nx\r\n.\r\nSTARTTLS\r\n\x16\x03\x01\x00\x01\x01", 53: "\x00\x02xx",
		6379: "*1\r\n$4\r\nPING\r\n", 5432: "\x00\x00\x00\x08\x04\xd2\x16\x2f", 3306: "\x01\x00\x00\x01x", 443: "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
		21: "PASV\r\n", 143: "a LOGIN b c\r\n", 110: "QUIT\r\n", 4444: "anything", 3128: "CONNECT x:25 HTTP/1.1\r\n\r\nEHLO x\r\n",
	} {
		f.Add(port, []byte(text))
	}
	f.Add(uint16(5432), []byte("\x00\x00\x00\x0d\x00\x03\x00\x00user\x00p\x00\x00\x00\x05xQ\x00\x00\x00\x0dSELECT 1\x00"))
	f.Add(uint16(3306), []byte("\x01\x00\x00\x01x\x09\x00\x00\x00\x03SELECT 1\x09\x00\x00\x00\x16SELECT ?\x05\x00\x00\x00\x17\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, port uint16, data []byte) {
		s := &Server{config: Config{Authority: authority}, names: newNames(), answers: newAnswers(), captures: make(chan Capture), budget: newBudget(maxKept), stopped: make(chan struct{})}
		s.resolver = resolver{names: s.names}
		taken := make(chan []Capture)
		go func() {
			var all []Capture
			for c := range s.captures {
				all = append(all, c)
			}
			taken <- all
		}()
		to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), port)
		flow := s.newFlow(to, to, "tcp")
		newConversation(s, flow, &said{Reader: bytes.NewReader(data)}, to).serve()
		flow.end()
		s.Close()
		end := int64(0)
		for _, c := range <-taken {
			if c.Lost() < 0 || c.Offset < end || len(c.Data) > maxData || len(c.Request) > maxRequest || len(c.Host) > maxHost {
				t.Errorf("capture %+v after %d", c, end)
			}
			end = c.Size
		}
	})
}
