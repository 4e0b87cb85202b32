package sinkhole_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/smtp"
	"net/url"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// trusting is the configuration of a client that trusts the authority.
func (h *testServer) trusting(name string) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.authority.PEM())
	return &tls.Config{RootCAs: pool, ServerName: name}
}

// checkMail: a client of SMTP gets rid of its mail, in the clear and by STARTTLS.
func checkMail() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	for _, at := range []string{"mail.example:25", "mail.example:587"} {
		if err := h.mail(at); err != nil {
			return fmt.Errorf("mail by %s: %w", at, err)
		}
	}
	return h.checkAll(
		want{protocol: "smtp", host: "mail.example", destination: address("mail.example", 25), request: "MAIL FROM:<a@x.example> BODY=8BITMIME RCPT TO:<b@y.example>", data: "secret for mail.example:25"},
		want{protocol: "smtp", host: "mail.example", destination: address("mail.example", 587), request: "MAIL FROM:<a@x.example> BODY=8BITMIME RCPT TO:<b@y.example>", data: "secret for mail.example:587"})
}

// address returns the address of a name and port in the sinkhole.
func address(name string, port uint16) string {
	found, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip4", name)
	if err != nil || len(found) != 1 {
		return fmt.Sprintf("%v %v", found, err)
	}
	return netip.AddrPortFrom(found[0], port).String()
}

func (h *testServer) mail(at string) error {
	client, err := smtp.Dial(at)
	if err != nil {
		return err
	}
	if strings.HasSuffix(at, ":587") {
		if err := client.StartTLS(h.trusting("mail.example")); err != nil {
			return err
		}
		if err := client.Auth(smtp.PlainAuth("", "user", "password", "mail.example")); err != nil {
			return err
		}
	}
	if err := errors.Join(client.Mail("a@x.example"), client.Rcpt("b@y.example")); err != nil {
		return err
	}
	body, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(body, "Subject: x\r\n\r\nsecret for "+at+"\r\n"); err != nil {
		return err
	}
	return errors.Join(body.Close(), client.Quit())
}

// script has the lines of a client, each with the answer that it waits for first.
type script []struct{ hear, say string }

// play speaks with the sinkhole and returns what it heard last.
func play(at string, s script) error {
	conn, err := net.DialTimeout("tcp", at, 10*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // the sinkhole sees it
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for _, step := range s {
		heard := make([]byte, len(step.hear))
		if _, err := io.ReadFull(in, heard); err != nil || string(heard) != step.hear {
			return fmt.Errorf("%s: heard %q, %w; want %q", at, heard, err, step.hear)
		}
		if _, err := io.WriteString(conn, step.say); err != nil {
			return err
		}
	}
	return nil
}

// checkDatabases: clients of protocols that need an answer go on to say more.
func checkDatabases() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	const to = "93.184.216.34:"
	startup := "\x00\x00\x00\x11\x00\x03\x00\x00user\x00joe\x00"
	err = errors.Join(
		play(to+"6379", script{{"", "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"}, {"+OK\r\n", "*1\r\n$4\r\nPING\r\n"}, {"+PONG\r\n", ""}}),
		play(to+"5432", script{{"", startup}, {"R\x00\x00\x00\x08\x00\x00\x00\x03", "p\x00\x00\x00\x0bsecret\x00"}, {"R\x00\x00\x00\x08\x00\x00\x00\x00", ""}}),
		play(to+"3306", script{{"", ""}, {"\x4a\x00\x00\x00\x0a8.0.36\x00", "\x06\x00\x00\x01secret"}}),
		play(to+"21", script{{"220 FTP ready\r\n", "USER joe\r\n"}, {"331 Password, please\r\n", "PASS secret\r\n"}, {"230 Logged in\r\n", "QUIT\r\n"}, {"221 Bye\r\n", ""}}),
		play(to+"143", script{{"* OK ready\r\n", "a LOGIN joe secret\r\n"}, {"a OK done\r\n", "b LOGOUT\r\n"}, {"* BYE\r\n", ""}}),
		play(to+"110", script{{"+OK ready\r\n", "PASS secret\r\n"}, {"+OK\r\n", "QUIT\r\n"}, {"+OK\r\n", ""}}),
		play(to+"22", script{{"SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-secret\r\n"}}),
	)
	if err != nil {
		return err
	}
	var wants []want
	for protocol, port := range map[string]string{"redis": "6379", "postgres": "5432", "mysql": "3306", "ftp": "21", "imap": "143", "pop3": "110", "ssh": "22"} {
		wants = append(wants, want{protocol: protocol, destination: to + port, data: "secret"})
	}
	return h.checkAll(wants...)
}

// checkNames: names have stable addresses, and addresses names.
func checkNames() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	resolver := net.DefaultResolver
	ctx := context.Background()
	for _, network := range []string{"udp", "tcp"} {
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "8.8.8.8:53") // a resolver that the program brings along
		}}
		found, err := resolver.LookupHost(ctx, "api.example")
		if err != nil || len(found) != 1 || found[0]+":1" != address("API.example", 1) || !sinkhole.Fake.Contains(netip.MustParseAddr(found[0])) {
			return fmt.Errorf("look up by %s: %q, %w", network, found, err)
		}
		names, err := resolver.LookupAddr(ctx, found[0])
		if err != nil || len(names) != 1 || names[0] != "api.example." {
			return fmt.Errorf("look up %s by %s: %q, %w", found[0], network, names, err)
		}
	}
	for _, absent := range []string{"www.registry.example", "api.example.default.svc.cluster.local", "api.com.svc.cluster.local", "api.example.cluster.local"} {
		var failed *net.DNSError
		if found, err := resolver.LookupHost(ctx, absent); !errors.As(err, &failed) || !failed.IsNotFound {
			return fmt.Errorf("look up %s: %q, %w", absent, found, err)
		}
	}
	if found, err := resolver.LookupHost(ctx, "vault.default.svc.cluster.local"); err != nil || len(found) != 1 {
		return fmt.Errorf("look up a service: %q, %w", found, err)
	}
	if found, err := resolver.LookupTXT(ctx, "api.example"); len(found) != 0 {
		return fmt.Errorf("look up a text: %q, %w", found, err)
	}
	return h.checkAll(
		want{protocol: "dns", host: "api.example", destination: "8.8.8.8:53", request: "A api.example", data: "api"},
		want{protocol: "dns", host: "api.example", request: "TXT api.example"})
}

// checkProxy: who takes us for a proxy shows what it sends through it.
func checkProxy() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	proxy := &url.URL{Scheme: "http", Host: "93.184.216.34:3128"}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: h.trusting("")}}
	reply, err := client.Post("https://inner.example/x", "text/plain", strings.NewReader("secret"))
	if err != nil {
		return err
	}
	client.CloseIdleConnections()
	return errors.Join(reply.Body.Close(), h.checkAll(want{protocol: "https", host: "inner.example", request: "POST /x HTTP/1.1", data: "secret"}))
}

// checkAnswers: each client gets what it can make something of.
func checkAnswers() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{ExpectContinueTimeout: 10 * time.Second, DisableKeepAlives: true}}
	var failed []error
	for _, tc := range []struct {
		method, url, header, value string
		status                     int
		body                       string
	}{
		{"GET", "http://x.example/", "Accept", "text/html,*/*;q=0.8", 200, "<html>"},
		{"HEAD", "http://x.example/", "", "", 200, ""},
		{"OPTIONS", "http://x.example/", "", "", 204, ""},
		{"POST", "http://x.example/", "Expect", "100-continue", 200, `"ok":true`},
		{"POST", "http://x.example/", "Transfer-Encoding", "chunked", 200, `"ok":true`},
		{"GET", "http://x.example/", "Upgrade", "h2c", 403, "not available"},
		{"GET", "http://169.254.169.254/latest/meta-data/", "", "", 404, "not found"},
		{"GET", "http://metadata.google.internal/", "", "", 404, "not found"},
		{"GET", "http://100.100.100.200/latest/meta-data/hostname", "", "", 404, "not found"},
		{"PUT", "http://169.254.169.254/latest/api/token", "", "", 200, "bm90ZQ=="},
	} {
		var body io.Reader
		if tc.method == "POST" {
			body = strings.NewReader("secret")
		}
		if tc.value == "chunked" {
			body = io.MultiReader(body) // of a length that is not known
		}
		request, err := http.NewRequest(tc.method, tc.url, body)
		if err != nil {
			return err
		}
		if tc.header != "" && tc.value != "chunked" {
			request.Header.Set(tc.header, tc.value)
		}
		reply, err := client.Do(request)
		if err != nil {
			return err
		}
		said, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != tc.status || !strings.Contains(string(said), tc.body) {
			failed = append(failed, fmt.Errorf("%s %s %s: %s %q, %w", tc.method, tc.url, tc.value, reply.Status, said, err))
		}
	}
	failed = append(failed, h.checkAll(
		want{protocol: "http", host: "x.example", request: "POST / HTTP/1.1", data: "Expect: 100-continue\r\n"},
		want{protocol: "http", host: "x.example", request: "POST / HTTP/1.1", data: "6\r\nsecret\r\n0\r\n"}))
	return errors.Join(failed...)
}

// checkStreams: requests of HTTP/2 that are under way at the same time do not get
// mixed up, nor wait for one that never ends.
func checkStreams() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: h.trusting(""), ForceAttemptHTTP2: true}}
	endless, stop := io.Pipe()
	results := make(chan error)
	post := func(path string, body io.Reader) {
		reply, err := client.Post("https://x.example/"+path, "text/plain", body)
		if err == nil {
			err = reply.Body.Close()
		}
		results <- err
	}
	go post("endless", endless)
	if _, err := io.WriteString(stop, "secret of endless"); err != nil {
		return err
	}
	for _, path := range []string{"a", "b"} {
		go post(path, strings.NewReader("secret of "+path))
	}
	for range 3 {
		if err := <-results; err != nil {
			return err
		}
	}
	client.CloseIdleConnections()
	return errors.Join(stop.Close(), h.checkAll(
		want{protocol: "https", host: "x.example", request: "POST /endless HTTP/2.0", data: "secret of endless"},
		want{protocol: "https", host: "x.example", request: "POST /a HTTP/2.0", data: "secret of a"},
		want{protocol: "https", host: "x.example", request: "POST /b HTTP/2.0", data: "secret of b"}))
}
