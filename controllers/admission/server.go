package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// What a connection may take. The API server waits 3 seconds for an answer (config/webhook),
// and keeps connections open for the next question.
const (
	readTimeout  = 10 * time.Second
	replyTimeout = 10 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHeader    = 64 << 10
)

// drain is how long a replica that is being stopped still answers: for that long some
// node may not know yet that it is to be asked no more.
const drain = 2 * time.Second

// Server serves the webhook. It is a manager.Runnable of every replica.
type Server struct {
	Handler http.Handler
	// Address to listen on, such as ":9443".
	Address string
	// Certificate is for tls.Config.GetCertificate.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
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
	mux := http.NewServeMux()
	mux.Handle("POST "+Path, s.Handler)
	server := &http.Server{
		Handler: mux, ReadTimeout: readTimeout, WriteTimeout: replyTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	// One stream per connection: no client can open thousands and drop them.
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.Certificate, NextProtos: []string{"http/1.1"}}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		timer := time.NewTimer(drain)
		defer timer.Stop()
		<-timer.C
		final, cancel := context.WithTimeout(context.WithoutCancel(ctx), replyTimeout)
		defer cancel()
		stopped <- server.Shutdown(final)
	}()
	log.FromContext(ctx).Info("Served the gate", "address", listener.Addr().String())
	if err := server.Serve(tls.NewListener(listener, config)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the gate: %w", err)
	}
	return <-stopped
}
