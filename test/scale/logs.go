package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// logServer serves the logs of all Pods, as a kubelet does to the API server.
type logServer struct {
	server http.Server
	port   int32
}

func serveLogs(c canned) (*logServer, error) {
	pair, _, err := controlplane.Certificate()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as the kubelet: %w", err)
	}
	mux := http.NewServeMux()
	// The path is that of pkg/kubelet/server in Kubernetes.
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/"+podspec.ContainerRunner, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, c.log) // readers detect a truncated log
	})
	s := &logServer{port: int32(listener.Addr().(*net.TCPAddr).Port)}
	s.server = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	go func() {
		if err := s.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // otherwise all logs would be missing for no visible reason
		}
	}()
	return s, nil
}

func (s *logServer) close() error { return s.server.Close() }
