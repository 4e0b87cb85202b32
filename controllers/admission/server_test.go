package admission

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/test/pipes"
)

// served is a Server on a loopback address.
type served struct {
	handler *Handler
	address string
}

var insecure = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}

func newServer(t *testing.T) *Server {
	t.Helper()
	h, _ := newHandler(newFacts("Enforce"))
	h.Metrics = silent{}
	plan, err := certs.Make(time.Now(), nil, []string{"localhost"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(plan.Data["tls.crt"], plan.Data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	return &Server{Handler: h, Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }}
}

// serve starts a Server whose timeouts never end anything.
func serve(t *testing.T, change func(*Server)) *served {
	t.Helper()
	s := newServer(t)
	s.readTimeout = time.Hour
	if change != nil {
		change(s)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = s.serve(ctx, listener)
	}()
	t.Cleanup(func() {
		stop()
		_ = listener.Close() // do not wait for those that still send
		<-stopped
	})
	return &served{s.Handler, listener.Addr().String()}
}

type silent struct{}

func (silent) Decided(string, string, string, time.Duration) {}
func (silent) Excepted(int)                                  {}
func (silent) Failed(string)                                 {}

// dial opens a TLS connection.
func (s *served) dial(t *testing.T) *tls.Conn {
	t.Helper()
	dialer := &tls.Dialer{Config: insecure}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*tls.Conn)
}

// half sends a part of a request and leaves the connection open.
func (s *served) half(t *testing.T, announced, sent int) net.Conn {
	t.Helper()
	conn := s.dial(t)
	// The server may close the connection while the client still sends.
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", Path, announced, strings.Repeat(" ", sent))
	return conn
}

// apiServer is a client like the API server, from another address than the test's own connections.
func apiServer(certificates ...tls.Certificate) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates},
	}}
}

// denied asks about a Pod of a failing image, of so many bytes, and fails the test unless it is denied.
func (s *served) denied(t *testing.T, from *http.Client, size int) {
	t.Helper()
	object := strings.Replace(pod(failing), `"name":"notes",`, `"name":"notes","annotations":{"pad":"`+strings.Repeat("x", size)+`"},`, 1)
	body, err := json.Marshal(question(admissionv1.Create, "", object))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.address+Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := from.Do(request)
	if err != nil {
		t.Fatalf("object of %d bytes: %v", size, err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Response.Allowed || answer.Response.Result.Reason != metav1.StatusReasonForbidden {
		t.Fatalf("object of %d bytes: status %d, %+v, %v", size, response.StatusCode, answer.Response, err)
	}
}

const largeObject = 600 << 10

// TestS6IdleConnections: the timeouts of the server never end here, so what lets the API
// server through does not depend on them.
func TestS6IdleConnections(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, *served){
		"TCP only": func(t *testing.T, s *served) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		},
		"TLS only":     func(t *testing.T, s *served) { s.dial(t) },
		"half headers": func(t *testing.T, s *served) { _, _ = fmt.Fprint(s.dial(t), "POST /gate HTTP/1.1\r\nHost: x\r\n") },
		"half bodies":  func(t *testing.T, s *served) { s.half(t, 7<<20, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{maxConnections, 20} {
				s := serve(t, func(s *Server) { s.maxConnections = limit })
				for range 100 {
					begin(t, s)
				}
				asked := apiServer()
				s.denied(t, asked, 10)
				for range 100 {
					begin(t, s)
				}
				s.denied(t, asked, largeObject)
				s.denied(t, apiServer(), largeObject)
			}
		})
	}
}

// TestS6BodiesAreBounded: who sends much and never ends gives way to who sends less.
func TestS6BodiesAreBounded(t *testing.T) {
	s := serve(t, func(s *Server) { s.Handler.bodies.limit = 8 << 20 })
	var held []net.Conn
	for range 40 {
		held = append(held, s.half(t, 7<<20, 1<<20))
	}
	s.denied(t, apiServer(), largeObject)
	for range 40 {
		held = append(held, s.half(t, 7<<20, 1<<20))
	}
	s.denied(t, apiServer(), largeObject)
	s.handler.bodies.mu.Lock()
	used := s.handler.bodies.used
	s.handler.bodies.mu.Unlock()
	if used > 8<<20 {
		t.Errorf("%d bytes are held", used)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
}

// TestS6SlowRequestsEnd: a connection that does not send its request in time is closed.
func TestS6SlowRequestsEnd(t *testing.T) {
	for name, begin := range map[string]func(net.Conn) net.Conn{
		"no handshake": func(conn net.Conn) net.Conn { return conn },
		"no request":   func(conn net.Conn) net.Conn { return tls.Client(conn, insecure) },
		"half a body": func(conn net.Conn) net.Conn {
			client := tls.Client(conn, insecure)
			_, _ = fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n ", Path)
			return client
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				listener := pipes.Listen()
				ctx, stop := context.WithCancel(t.Context())
				stopped := make(chan error)
				go func() { stopped <- s.serve(ctx, listener) }()
				conn, err := listener.Dial(ctx)
				if err != nil {
					t.Fatal(err)
				}
				client, dialed := begin(conn), time.Now()
				_, _ = io.Copy(io.Discard, client)
				if took := time.Since(dialed); took > time.Minute || took < readTimeout {
					t.Errorf("closed after %s", took)
				}
				_ = conn.Close()
				stop()
				if err := <-stopped; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestS6LastRequestGivesWay: with nobody else to drop, the request itself is too much.
func TestS6LastRequestGivesWay(t *testing.T) {
	h, counted := newHandler(newFacts("Enforce"))
	h.bodies.limit = chunk
	_, recorder := send(t, h, make([]byte, 2*chunk))
	if recorder.Code != http.StatusServiceUnavailable || !slices.Equal(counted.all, []string{"failed busy"}) {
		t.Errorf("%d, counted %q", recorder.Code, counted.all)
	}
	if h.bodies.used != 0 || len(h.bodies.held) != 0 {
		t.Errorf("%d bytes of %d requests are held", h.bodies.used, len(h.bodies.held))
	}
}

// TestS6ClientCertificates: with a client CA, only its clients are served.
func TestS6ClientCertificates(t *testing.T) {
	ca, good := authority(t)
	_, other := authority(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(s *Server) { s.ClientCA = file })
	s.denied(t, apiServer(good), 10)
	for name, stranger := range map[string]*http.Client{"none": apiServer(), "another authority's": apiServer(other)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.address+Path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := stranger.Do(request); err == nil {
			_ = response.Body.Close()
			t.Errorf("certificate %s: status %d", name, response.StatusCode)
		}
	}
}

// authority makes an authority and a client certificate by it.
func authority(t *testing.T) ([]byte, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
