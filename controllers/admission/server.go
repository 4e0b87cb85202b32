package admission

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Limits of a connection. The API server waits 3 seconds for an answer (config/webhook) and
// reuses connections. readTimeout bounds the TLS handshake, and each request from first to last
// byte.
const (
	readTimeout    = 2 * time.Second
	replyTimeout   = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 64 << 10
	maxConnections = 1024
)

// drain is the time in which a stopping replica still answers, until all nodes have removed its
// endpoint.
const drain = 2 * time.Second

// Server serves the webhook. It is a manager.Runnable of every replica.
type Server struct {
	Handler *Handler
	// Address to listen on, such as ":9443".
	Address string
	// Certificate is used as tls.Config.GetCertificate.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// ClientCA is a file of PEM certificates, read for each connection. If set, clients need a
	// certificate signed by one of them.
	ClientCA string

	// readTimeout and maxConnections replace the constants in tests.
	readTimeout    time.Duration
	maxConnections int
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Server) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err != nil {
		return fmt.Errorf("listen for the gate: %w", err)
	}
	return s.serve(ctx, listener)
}

func (s *Server) serve(ctx context.Context, listener net.Listener) error {
	open := &connections{limit: cmp.Or(s.maxConnections, maxConnections), open: map[net.Conn]*connection{}}
	s.Handler.received = open.received
	mux := http.NewServeMux()
	mux.Handle("POST "+Path, s.Handler)
	server := &http.Server{
		Handler: mux, ReadTimeout: cmp.Or(s.readTimeout, readTimeout), WriteTimeout: replyTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ConnState: open.track, ConnContext: remember,
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(log.FromContext(ctx)), slog.LevelDebug), // any client can make handshakes fail
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		time.Sleep(drain)
		final, cancel := context.WithTimeout(context.WithoutCancel(ctx), replyTimeout)
		defer cancel()
		stopped <- server.Shutdown(final)
	}()
	log.FromContext(ctx).Info("Served the gate", "address", listener.Addr().String())
	if err := server.Serve(tls.NewListener(listener, s.tls())); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the gate: %w", err)
	}
	return <-stopped
}

func (s *Server) tls() *tls.Config {
	// One request per connection at a time: no client can open thousands of streams.
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.Certificate, NextProtos: []string{"http/1.1"}}
	if s.ClientCA == "" {
		return config
	}
	config.ClientAuth, config.SessionTicketsDisabled = tls.RequireAndVerifyClientCert, true
	anew := config.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		pool, err := readPool(s.ClientCA)
		if err != nil {
			return nil, err
		}
		current := anew.Clone()
		current.ClientCAs = pool
		return current, nil
	}
	return config
}

func readPool(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read client CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("read client CA: %s has no PEM certificate", file)
	}
	return pool, nil
}
