package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	certutil "k8s.io/client-go/util/cert"

	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// logServer serves the logs of all Pods as a kubelet does: the API server asks it
// when the manager reads the log of a Pod.
type logServer struct {
	server http.Server
	port   int32
}

func serveLogs(c canned) (*logServer, error) {
	certificate, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("make certificate of the kubelet: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of the kubelet: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as the kubelet: %w", err)
	}
	mux := http.NewServeMux()
	// The path is the kubelet's own, see pkg/kubelet/server of Kubernetes.
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/"+podspec.ContainerRunner, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, c.log) // a log that breaks off is the reader's to notice
	})
	s := &logServer{port: int32(listener.Addr().(*net.TCPAddr).Port)}
	s.server = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	go func() {
		if err := s.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // nothing else would tell why all logs are missing
		}
	}()
	return s, nil
}

func (s *logServer) close() error { return s.server.Close() }
