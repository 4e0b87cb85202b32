package audit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// A server that runs elsewhere is waited for so long: a Service has no end points
// for a moment when its Pods come up. It is tried so often meanwhile.
const (
	reachDeadline = 10 * time.Second
	reachPause    = 200 * time.Millisecond
)

// reachable returns why a server that runs elsewhere cannot be connected to.
func (to Remote) reachable(ctx context.Context) report.Incomplete {
	ctx, cancel := context.WithTimeout(ctx, reachDeadline)
	defer cancel()
	for {
		err := to.try(ctx)
		if err == nil {
			return report.Incomplete{}
		}
		select {
		case <-time.After(reachPause):
			if transient(err) {
				continue
			}
		case <-ctx.Done():
		}
		return report.Incomplete{Reason: report.ReasonUnreachable,
			Message: fmt.Sprintf("the server could not be connected to: %v", err)}
	}
}

// try makes one connection, and says nothing.
func (to Remote) try(ctx context.Context) error {
	dial := to.Dial
	if dial == nil {
		dial = func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", endpoint(to.URL))
		}
	}
	conn, err := dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// endpoint is the host and port of a URL that CheckURL has let pass.
func endpoint(text string) string {
	to, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := to.Port()
	if port == "" {
		port = to.Scheme // "http" and "https" are names of ports
	}
	return net.JoinHostPort(to.Hostname(), port)
}

// transient tells of errors that a server gives that is only just coming up.
func transient(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
