package imageref

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/netguard"
)

// Tenants, who may have no network access of their own, name registries. Their addresses, and
// those of redirects, must be permitted by guard.

// maxBody bounds one response, in bytes. Manifests and configs are far smaller; a registry
// named by a tenant may send anything, and several workers read and decode responses at once.
const maxBody = 2 << 20

// maxRedirects bounds the redirects of one request. Registries need one, to their blob storage.
const maxRedirects = 5

// connectTimeout bounds one attempt to connect.
const connectTimeout = 15 * time.Second

// errLarge means that a response is too large for a manifest or config.
var errLarge = errors.New("answer is too large")

// refusal is the reason why a request was not made.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

// newTransport returns the transport of one question. It uses no proxy, which would resolve
// names and connect out of the guard's sight. Questions share no connections: reusing one would
// skip permit.
func newTransport(asked *origin, guard netguard.Guard) *http.Transport {
	guard.Private = slices.Concat(guard.Private, asked.private)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
				return permit(asked, guard, address, to)
			}}
			return d.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// origin is the registry that a question asks.
type origin struct {
	rules
	// registry is its "host[:port]".
	registry string
	// inside is set once it answered from an internal network.
	inside atomic.Bool
}

// isAt reports whether a request to "host:port" goes to the registry.
func (o *origin) isAt(address string) bool {
	return slices.ContainsFunc(o.addresses(), func(own string) bool { return strings.EqualFold(own, address) })
}

// isListed reports whether the operator lists the registry, by name or address.
func (o *origin) isListed() bool {
	host, err := netip.ParseAddr((&url.URL{Host: o.registry}).Hostname())
	return slices.ContainsFunc(o.addresses(), o.isInternal) || err == nil && o.isInside(host)
}

func (o *origin) addresses() []string {
	return []string{hostPort(&url.URL{Scheme: "https", Host: o.registry}), hostPort(&url.URL{Scheme: "http", Host: o.registry})}
}

// permit checks the address that a socket is about to connect to; wanted is the "host:port" of
// the request, already resolved. Internal networks are for the registries in them and their
// redirects.
func permit(asked *origin, guard netguard.Guard, wanted, to string) error {
	resolved, err := netip.ParseAddrPort(to)
	if err != nil {
		return &refusal{"its address cannot be read"}
	}
	address := resolved.Addr().WithZone("").Unmap()
	class, what := guard.Classify(address)
	literal, _ := netip.ParseAddrPort(wanted)
	switch {
	case class == netguard.Public,
		class == netguard.Private && asked.isInternal(wanted),
		class == netguard.Private && asked.isInside(address) && (asked.isAt(wanted) || asked.isListed() || asked.inside.Load()),
		// No name may resolve to the manager itself, unless the operator lists the address.
		class == netguard.Loopback && literal == resolved && asked.isInternal(wanted):
		return nil
	case class == netguard.Private && asked.isInside(address):
		return &refusal{"it leads to an internal network"}
	case class == netguard.Private:
		return &refusal{"it has " + what + " and is not listed in registries.internal of the operator's configuration"}
	}
	return &refusal{"it has the address of " + what}
}

// guarded sends the requests of one question.
type guarded struct {
	http.RoundTripper
	*origin
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.check(request); err != nil {
		return nil, err
	}
	var from net.Addr
	traced := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { from = got.Conn.RemoteAddr() }})
	response, err := g.RoundTripper.RoundTrip(request.WithContext(traced))
	if err != nil {
		return nil, err
	}
	if peer, ok := from.(*net.TCPAddr); ok && g.isAt(hostPort(request.URL)) && g.isInside(peer.AddrPort().Addr().WithZone("").Unmap()) {
		g.inside.Store(true)
	}
	// A HEAD of a layer may announce any length; only bodies are read.
	if request.Method != http.MethodHead && response.ContentLength > maxBody {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are read", errLarge, response.ContentLength, maxBody)
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

// check checks a request before its host is resolved.
func (g guarded) check(request *http.Request) error {
	redirects := 0
	for r := request; r.Response != nil && r.Response.Request != nil; r = r.Response.Request {
		if redirects++; redirects > maxRedirects {
			return &refusal{fmt.Sprintf("it redirects more than %d times", maxRedirects)}
		}
		if from := r.Response.Request.URL; from.Scheme != r.URL.Scheme {
			return &refusal{"it redirects from " + from.Scheme + " to another scheme"}
		}
	}
	target := hostPort(request.URL)
	switch {
	case request.URL.Scheme != "https" && !(request.URL.Scheme == "http" && listed(g.plain, target)):
		return &refusal{"it speaks no TLS and is not listed in registries.plainHTTP of the operator's configuration"}
	// An internal registry must be named directly: others may not redirect to it.
	case g.isInternal(target) && !g.isListed() && !g.inside.Load():
		return &refusal{"it leads to an internal registry"}
	}
	return nil
}

// hostPort returns the "host:port" of a URL, as a transport dials it.
func hostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
}
