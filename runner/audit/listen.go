package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

const (
	// listenTimeout is how long a server may take to listen, the same as for its first answer; elsewhereTimeout
	// applies if it already listens on another port.
	listenTimeout    = 60 * time.Second
	elsewhereTimeout = 10 * time.Second
	// maxListening bounds the number of kept addresses.
	maxListening = 64
)

// listening tracks where the server listens, from its trace.
type listening struct {
	mu sync.Mutex
	at []netip.AddrPort
	// more is closed when there is another address.
	more chan struct{}
}

func newListening() *listening { return &listening{more: make(chan struct{})} }

func (l *listening) event(e trace.Event) {
	if e.Op != trace.OpListen || e.Errno != "" || e.Socket == nil || e.Socket.Protocol != "tcp" || e.Socket.Local.Port() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.at) >= maxListening || slices.Contains(l.at, e.Socket.Local) {
		return
	}
	l.at = append(l.at, e.Socket.Local)
	close(l.more)
	l.more = make(chan struct{})
}

// seen returns the addresses so far; more is closed when there is another.
func (l *listening) seen() (at []netip.AddrPort, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.at), l.more
}

// on returns the addresses by which to reach a port; with 0, the first port that the server listens on.
func on(at []netip.AddrPort, port uint16) []netip.AddrPort {
	var found []netip.AddrPort
	for _, a := range at {
		if port == 0 && reachable(a) {
			port = a.Port()
		}
		if a.Port() == port {
			found = append(found, loopbacks(a)...)
		}
	}
	return found
}

// reachable reports whether a socket with this address can be reached from inside. The address of an interface
// cannot, because the sinkhole answers there.
func reachable(a netip.AddrPort) bool { return a.Addr().IsLoopback() || a.Addr().IsUnspecified() }

// loopbacks returns the addresses by which to reach a listening socket. A wildcard socket of IPv6 accepts IPv4 as
// well, unless it sets IPV6_V6ONLY (ipv6(7)).
func loopbacks(a netip.AddrPort) []netip.AddrPort {
	v4, v6 := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()), netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	switch {
	case a.Addr() == netip.IPv6Unspecified():
		return []netip.AddrPort{v4, v6}
	case a.Addr().IsUnspecified():
		return []netip.AddrPort{v4}
	case a.Addr().IsLoopback():
		return []netip.AddrPort{a}
	}
	return nil
}

func (p Plan) awaitPort(ctx context.Context, l *listening, exited <-chan struct{}) (uint16, report.Incomplete) {
	p.Progress("wait until the server listens")
	patience := time.NewTimer(listenTimeout)
	defer patience.Stop()
	impatient := false
	for {
		at, more := l.seen()
		if found := on(at, p.Port); len(found) > 0 {
			return found[0].Port(), report.Incomplete{}
		}
		if len(at) > 0 && !impatient {
			impatient = true
			patience.Reset(elsewhereTimeout)
		}
		select {
		case <-more:
		case <-exited:
			return 0, report.Incomplete{Reason: report.ReasonServerExited, Message: "the server exited before it listened on " + p.port()}
		case <-patience.C:
			return 0, report.Incomplete{Reason: report.ReasonNotListening, Message: p.notListening(at)}
		case <-ctx.Done():
			return 0, report.Incomplete{Reason: report.ReasonTimeout, Message: "the audit ran out of time before the server listened on " + p.port()}
		}
	}
}

func (p Plan) port() string {
	if p.Port == 0 {
		return "a TCP port"
	}
	return "port " + strconv.Itoa(int(p.Port))
}

// notListening names the ports on which the server listens instead of the expected one.
func (p Plan) notListening(at []netip.AddrPort) string {
	if len(at) == 0 {
		return fmt.Sprintf("the server did not listen on %s within %s: was it started with an HTTP transport?", p.port(), listenTimeout)
	}
	if others := ports(at); len(others) > 0 {
		return fmt.Sprintf("the server listens on %s, not %d: set --port (spec.server.port)", strings.Join(others, " and "), p.Port)
	}
	var far []string
	for _, a := range at {
		far = append(far, a.String())
	}
	return fmt.Sprintf("the server listens on %s, where it cannot be reached: have it listen on localhost or on every address",
		strings.Join(far, ", "))
}

// ports returns the reachable ports without duplicates.
func ports(at []netip.AddrPort) (all []string) {
	for _, a := range at {
		if port := strconv.Itoa(int(a.Port())); reachable(a) && !slices.Contains(all, port) {
			all = append(all, port)
		}
	}
	return all
}

// explainGuessedPort adds to a failed handshake that the port was a guess.
func (p Plan) explainGuessedPort(r probe.Result, port uint16) probe.Result {
	if p.Port == 0 && r.ProtocolVersion == "" && r.Incomplete.Reason != "" {
		r.Incomplete.Message += fmt.Sprintf(" (on port %d, the first that it listens on: --port chooses another)", port)
	}
	return r
}

// endpoint returns the listening server as the probe's endpoint.
func (p Plan) endpoint(process Process, l *listening, port uint16) *probe.HTTP {
	return &probe.HTTP{
		Transport: p.Transport,
		URL:       "http://" + net.JoinHostPort("localhost", strconv.Itoa(int(port))) + p.path(),
		Dial: func(ctx context.Context) (net.Conn, error) {
			at, _ := l.seen()
			return dial(ctx, process, on(at, port))
		},
	}
}

// path returns the path of the server's endpoint.
func (p Plan) path() string { return cmp.Or(p.Path, plan.ByName(p.Transport).Path) }

// dial connects to the first address that accepts, and makes the connection part of the conversation.
func dial(ctx context.Context, process Process, at []netip.AddrPort) (net.Conn, error) {
	err := errors.New("the server does not listen")
	for _, a := range at {
		var conn net.Conn
		if conn, err = process.Dial(ctx, a); err != nil {
			continue
		}
		if tcp, ok := conn.LocalAddr().(*net.TCPAddr); ok {
			process.Trace().Claim(tcp.AddrPort(), a.Port())
		}
		return conn, nil
	}
	return nil, err
}
