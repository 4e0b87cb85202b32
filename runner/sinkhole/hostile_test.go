package sinkhole_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"
)

// checkFlood: thousands of connections, most of which say nothing, keep nobody
// out, and what they take is bounded.
func checkFlood() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	var idle []net.Conn
	for range 3000 {
		conn, err := net.Dial("tcp", "93.184.216.34:4444")
		if err != nil {
			return fmt.Errorf("after %d connections: %w", len(idle), err)
		}
		idle = append(idle, conn)
	}
	if n := runtime.NumGoroutine(); n > 1500 {
		return fmt.Errorf("%d goroutines", n)
	}
	reply, err := http.Post("http://collect.example/x", "text/plain", strings.NewReader("secret"))
	if err != nil {
		return err
	}
	if err := reply.Body.Close(); err != nil {
		return err
	}
	for _, conn := range idle {
		_ = conn.Close() // many are closed on the other side
	}
	return h.checkAll(want{protocol: "http", host: "collect.example", request: "POST /x", data: "secret"})
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// openForgetful opens the network with a server whose captures the test drops, so that only the sinkhole takes memory.
func openForgetful() (*testServer, error) {
	h, err := open(true)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.forgetful = true
	h.mu.Unlock()
	return h, nil
}

// checkHuge: a body that is larger than what is kept is counted, and answered.
func checkHuge() error {
	h, err := openForgetful()
	if err != nil {
		return err
	}
	const size = 256 << 20
	reply, err := http.Post("http://collect.example/x", "text/plain", io.LimitReader(zeros{}, size))
	if err != nil {
		return err
	}
	if err := reply.Body.Close(); err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var last int64
	for _, c := range h.all() {
		last = max(last, c.Size)
	}
	if last < size || h.bytes < 64<<20 || h.bytes > 65<<20 {
		return fmt.Errorf("%d of %d bytes were handed over", h.bytes, last)
	}
	if memory.HeapInuse > 32<<20 {
		return fmt.Errorf("%d bytes of heap", memory.HeapInuse)
	}
	return nil
}

// checkEndless: a JSON message without an end takes no memory, and tunnels within tunnels end.
func checkEndless() error {
	if _, err := openForgetful(); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", "93.184.216.34:9000")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nobody waits for it
	if _, err := io.WriteString(conn, `{"a":"`); err != nil {
		return err
	}
	if _, err := io.Copy(conn, io.LimitReader(letters{}, 64<<20)); err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapInuse > 32<<20 {
		return fmt.Errorf("%d bytes of heap", memory.HeapInuse)
	}
	proxy, err := net.Dial("tcp", "93.184.216.34:3128")
	if err != nil {
		return err
	}
	defer func() { _ = proxy.Close() }() // nobody waits for it
	answers := bufio.NewReader(proxy)
	for depth := range 32 {
		_ = proxy.SetDeadline(time.Now().Add(2 * time.Second)) // a closed connection fails the read as well
		if _, err := io.WriteString(proxy, "CONNECT inner.example:80 HTTP/1.1\r\nHost: inner.example:80\r\n\r\n"); err != nil {
			return err
		}
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			if depth < 2 {
				return fmt.Errorf("tunnel %d: %q, %w", depth, line, err)
			}
			return nil
		}
		if _, err := answers.ReadString('\n'); err != nil { // the empty line
			return err
		}
	}
	return errors.New("tunnels have no end")
}

// letters is text without an end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// checkGarbage: what is no message of any protocol is taken in, and the next is
// served.
func checkGarbage() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	const to = "93.184.216.34:"
	var failed []error
	for port, garbage := range map[string]string{
		"53": "\x00\x05xxxxx", "80": "GET \x00\x01\x02 HTTP/9.9\r\n\r\n", "443": "\x16\x03\x01\xff\xff" + strings.Repeat("x", 70000),
		"5432": "\x00\x00\x00\x08\x04\xd2\x16\x2f\x16\x03\x01\x00\x01", "6379": "*1\r\n$999999999999\r\n", "25": strings.Repeat("x", 100000),
		"8080": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\xff", 100), "3306": "\xff\xff\xff\xff", "853": "\x16\x03",
	} {
		conn, err := net.Dial("tcp", to+port)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, garbage) // the sinkhole may hang up on it
		failed = append(failed, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // as above
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			failed = append(failed, fmt.Errorf("port %s: it does not end", port))
		}
		failed = append(failed, conn.Close())
	}
	udp, err := net.Dial("udp", to+"53")
	if err != nil {
		return err
	}
	for _, message := range []string{"", "x", strings.Repeat("\xff", 600), "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"} {
		_, err := io.WriteString(udp, message)
		failed = append(failed, err)
	}
	came := h.all()
	failed = append(failed,
		check(came, want{protocol: "http", destination: to + "80", request: "GET ??? HTTP/9.9"}),
		check(came, want{protocol: "tls", destination: to + "443", opaque: true, request: "TLS handshake"}),
		check(came, want{protocol: "dns", destination: to + "53", data: "\xff\xff"}))
	return errors.Join(failed...)
}
