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

// How long to wait for a server that runs elsewhere, and how often to try: a Service briefly has no endpoints while
// its Pods start.
const (
	reachDeadline = 10 * time.Second
	reachPause    = 200 * time.Millisecond
)

// reachable returns why a server that runs elsewhere cannot be reached.
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

// try opens a connection and sends nothing.
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

// endpoint returns host and port of a URL that CheckURL accepted.
func endpoint(text string) string {
	to, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := to.Port()
	if port == "" {
		port = to.Scheme // "http" and "https" are also port names
	}
	return net.JoinHostPort(to.Hostname(), port)
}

// transient reports errors of a server that is just starting.
func transient(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
